"""The last lines of commands that write models: size, ratio, quality, and the next command to type."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from pocketmt.model_file.report import ModelReport

# Largest model dimension of the students for which docs/appendices/speed-students.md compares binary codes with 8 bits.
SMALL: Final = 256


def show_model_file(path: Path, *commands: str) -> None:
    """Print the size of a model file, how many times smaller it is, its validation BLEU, and the next commands."""
    from pocketmt.model_file.report import inspect_model

    report = inspect_model(path)
    ratio = report.float32_file_bytes / report.file_bytes
    parts = [f"{report.file_bytes:,} bytes", f"{ratio:.1f} times smaller than in float32"]
    bleu = report.training.get("validation_bleu")
    compression = report.training.get("compression")
    scores = compression if isinstance(compression, dict) else {}
    agreement, compressed = scores.get("agreement_bleu"), scores.get("bleu")
    if isinstance(agreement, float):
        parts.append(f"BLEU {agreement:.1f} against the uncompressed model's translations")
    elif isinstance(compressed, float) and isinstance(bleu, float):
        parts.append(f"validation BLEU {compressed:.1f} (before compression {bleu:.1f})")
    elif isinstance(compressed, float):
        parts.append(f"validation BLEU {compressed:.1f}")
    elif isinstance(bleu, float):
        parts.append(f"validation BLEU {bleu:.1f} before packing")
    click.echo(f"{path}: {', '.join(parts)}", err=True)
    if _slow_in_batches(report):
        click.echo(
            "note: in a model this small, binary codes save bytes but little time: in batches and with a beam they are "
            "up to 24% slower than 8 bits, and up to 27% faster for one sentence with --beam-size 1",
            err=True,
        )
    show_next(*commands)


def _slow_in_batches(report: "ModelReport") -> bool:
    binary = any("binary" in matrix.scheme for matrix in report.matrices)
    return binary and report.architecture.model_dimension <= SMALL


def show_next(*commands: str) -> None:
    """Print commands to type next."""
    for number, command in enumerate(commands):
        click.echo(f"{'next: ' if number == 0 else '  or: '}{command}", err=True)


def quoted(path: Path) -> str:
    """Return a path as it is typed in a shell."""
    return shlex.quote(str(path))
