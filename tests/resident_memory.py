"""The memory that a mapped file takes."""

from pathlib import Path

SMAPS = Path("/proc/self/smaps")


def resident_bytes(file: Path) -> int:
    """Return the bytes of a file that this process has mapped and in memory."""
    total, ours = 0, False
    for line in SMAPS.read_text().splitlines():
        name, _, rest = line.partition(":")
        if "-" in name.split(" ")[0]:
            ours = line.endswith(str(file))
        elif ours and name == "Rss":
            total += 1024 * int(rest.split()[0])
    return total
