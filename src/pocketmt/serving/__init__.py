"""The HTTP server: an API compatible with LibreTranslate's, and a page (the extra `serve`)."""
