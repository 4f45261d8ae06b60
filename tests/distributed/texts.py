"""Text for tests of a cluster, and the text of shards."""

from pathlib import Path

_WORDS = ("a red house", "the green tree and a bird", "two dogs see the house", "", "a bird", "the tree is green 17")


def lines(count: int) -> list[str]:
    return [f"{_WORDS[number % 6]} {_WORDS[number // 6 % 6]}" for number in range(count)]


def write_text(path: Path, count: int) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines(count)))
    return path


def joined(folder: Path) -> bytes:
    return b"".join(shard.read_bytes() for shard in sorted(folder.glob("*.txt")))
