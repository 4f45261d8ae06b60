"""Translation of HTML: its text by blocks, with inline tags put back by alignment. Tags are copied, never changed."""
