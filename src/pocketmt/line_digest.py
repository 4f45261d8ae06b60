"""The hash of lines, by which a text is known again."""

import hashlib


class LineDigest:
    """SHA-256 of lines, each with a line feed, and their number.

    Attributes:
        lines: the number of lines that were added.
    """

    def __init__(self) -> None:
        self.lines = 0
        self._hash = hashlib.sha256()

    def add(self, line: str) -> None:
        """Add a line, which may have lone surrogates."""
        self._hash.update(line.encode("utf-8", "surrogatepass") + b"\n")
        self.lines += 1

    def hexdigest(self) -> str:
        """Return the hexadecimal hash of the lines so far."""
        return self._hash.hexdigest()
