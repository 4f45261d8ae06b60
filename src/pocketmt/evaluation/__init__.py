"""What is published: quality (sacreBLEU), speed, memory; the records that say how they were made, and their tables."""
