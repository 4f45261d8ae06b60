"""Work on more text than one machine handles: blocks of lines, their scheduler, workers on Ray, and shards on disk."""
