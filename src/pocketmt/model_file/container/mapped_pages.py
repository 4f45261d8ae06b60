"""Pages of a memory-mapped file: they count as memory of the process until they are released."""

import mmap


def release_pages(buffer: memoryview, offset: int, size: int) -> None:
    """Release the pages that lie within a range of a mapped file; they are read again when they are needed.

    Does nothing for a buffer that is not mapped, and where the system has no such call.
    """
    mapped = buffer.obj
    if not isinstance(mapped, mmap.mmap) or not hasattr(mmap, "MADV_DONTNEED"):
        return
    start = -(-offset // mmap.PAGESIZE) * mmap.PAGESIZE
    end = (offset + size) // mmap.PAGESIZE * mmap.PAGESIZE
    if end > start:
        mapped.madvise(mmap.MADV_DONTNEED, start, end - start)
