"""Generated pages of the documentation, and the blocks of code in all pages."""
