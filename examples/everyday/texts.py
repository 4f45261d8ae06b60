"""The texts of the family: pairs, plain text without what the pairs hold, held-out text with its versions."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from examples.everyday.settings import Settings
from pocketmt.atomic_file import atomic_write, write_together
from pocketmt.text.corpus import read_lines
from pocketmt.text.vocabulary_training import Segmentation, train_vocabulary


def prepare(settings: Settings, folder: Path, segmentation: Segmentation) -> None:
    """Write all texts of the family, the parts that teachers translate, and the vocabulary."""
    folder.mkdir(parents=True, exist_ok=True)
    first, second = settings.languages
    texts = settings.texts
    for language in settings.languages:
        shutil.copyfile(f"{texts.training}.{language}", folder / f"training.{language}")
        _write_parts(folder / f"training.{language}", settings.teachers.parts)
    for kind in ("validation", "test"):
        name = getattr(texts, kind)
        shutil.copyfile(f"{name}.{first}", folder / f"{kind}.{first}")
        for version in sorted(Path(name).parent.glob(f"{Path(name).name}.{second}[0-9]")):
            shutil.copyfile(version, folder / f"{kind}{version.suffix}")
        shutil.copyfile(folder / f"{kind}.{second}0", folder / f"{kind}.{second}")
    held = {line for name in ("training", "validation", "test") for line in read_lines(folder / f"{name}.{first}")}
    plain = dict.fromkeys(read_lines(Path(f"{texts.plain}.{first}")))
    _write(folder / f"plain.{first}", (line for line in plain if line not in held))
    _write_parts(folder / f"plain.{first}", settings.teachers.parts)
    lines = (line for language in settings.languages for line in read_lines(folder / f"training.{language}"))
    vocabulary = train_vocabulary(lines, settings.vocabulary_size, segmentation)
    with atomic_write(folder / "vocabulary.model") as stream:
        stream.write(vocabulary.stored.model)


def _write_parts(path: Path, count: int) -> None:
    lines = list(read_lines(path))
    size = -(-len(lines) // count)
    for part in range(count):
        _write(path.with_name(f"{path.stem}.{part}{path.suffix}"), lines[part * size : (part + 1) * size])


def _write(path: Path, lines: Iterable[str]) -> None:
    with atomic_write(path) as stream:
        stream.writelines(f"{line}\n".encode() for line in lines)


def join(parts: Iterable[Path], output: Path) -> None:
    """Write files one after another."""
    with atomic_write(output) as stream:
        for part in parts:
            stream.write(part.read_bytes())


def write_pairs(pairs: Iterable[tuple[str, str]], source: Path, target: Path) -> None:
    """Write pairs of lines as two parallel files."""
    with write_together(source, target) as streams:
        for pair in pairs:
            for stream, line in zip(streams, pair, strict=True):
                stream.write(f"{line}\n".encode())
