"""The last lines of commands that write models: size, ratio, quality, and the next command to type."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from pocketmt.model_file.report import ModelReport

# Largest model dimension of the students whose few bits docs/appendices/speed-students.md compares with 8 bits, and
# docs/appendices/speed.md with AVX2 alone. A test compares the figures of the notes with the records.
SMALL: Final = 256
FULL_BITS: Final = 16  # of weights that are not quantized, or more
BINARY_CODES: Final = (
    "note: in a model this small, binary codes save bytes but not always time: they translate one sentence "
    "with --beam-size 1 at 1.03 to 1.61 times the speed of 8 bits, and in batches or with a larger beam at 0.77 to "
    "1.15 times, with AMX at 0.57 to 1.33 times"
)
FOUR_BITS: Final = (
    "note: in a model this small, 4 bits or fewer save bytes but not always time: with AVX2 alone they translate at "
    "0.75 to 1.07 times the speed of 8 bits, with AVX-512 VNNI at 0.99 to 1.58 times, with AMX at 1.03 "
    "to 1.78 times"
)


def show_model_file(path: Path, *commands: str, if_no_shortlist: str = "", made_from: Path | str | None = None) -> None:
    """Print the size of a model file, how many times smaller it is, its validation BLEU, and the next commands.

    Args:
        path: of the model file.
        commands: to type next.
        if_no_shortlist: another command to type next, unless the file has a shortlist; empty: none.
        made_from: the model that it was made from: a folder, a file or a bundled name. A model file that is not larger
            is named.
    """
    from pocketmt.model_file.report import TOKENIZATION, bleu_title, equal_tokenization, inspect_model

    report = inspect_model(path)
    parts = [f"{report.file_bytes:,} bytes", *_size_compared(report, made_from)]
    bleu = report.training.get("validation_bleu")
    compression = report.training.get("compression")
    scores = compression if isinstance(compression, dict) else {}
    agreement, compressed = scores.get("agreement_bleu"), scores.get("bleu")
    before, after = bleu_title(report.training.get(TOKENIZATION)), bleu_title(scores.get(TOKENIZATION))
    if isinstance(agreement, float):
        parts.append(f"{after} {agreement:.1f} against the uncompressed model's translations")
    elif isinstance(compressed, float) and isinstance(bleu, float) and equal_tokenization(report.training, scores):
        parts.append(f"validation {after} {compressed:.1f} (before compression {bleu:.1f})")
    elif isinstance(compressed, float):
        parts.append(f"validation {after} {compressed:.1f}")
    elif isinstance(bleu, float):
        parts.append(f"validation {before} {bleu:.1f} before packing")
    click.echo(f"{path}: {', '.join(parts)}", err=True)
    if note := speed_note(report):
        click.echo(note, err=True)
    show_next(*commands, *([if_no_shortlist] if if_no_shortlist and not report.shortlist else []))


def _size_compared(report: "ModelReport", made_from: Path | str | None) -> list[str]:
    """Return how the size of a model file compares with that of the file it was made from, or in float32, in words."""
    earlier = None if made_from is None else _report_of_file(made_from)
    if earlier is not None and report.file_bytes >= earlier.file_bytes:
        bits = sorted(matrix.code_bits for matrix in earlier.matrices)
        few = f"{bits[0]:.3g} to {bits[-1]:.3g}" if bits[0] < bits[-1] else f"{bits[0]:.3g}"
        compared = "larger than" if report.file_bytes > earlier.file_bytes else "as large as"
        which = f", which is in {few} bits already" if bits[-1] < FULL_BITS else ""
        return [f"{compared} {made_from} ({earlier.file_bytes:,} bytes){which}"]
    ratio = f"{report.float32_file_bytes / report.file_bytes:.1f}"
    return [f"{ratio} times smaller than in float32"] if float(ratio) > 1 else []


def _report_of_file(model: Path | str) -> "ModelReport | None":
    """Return the report of a model file or a bundled model; None for a run or a model of another toolkit."""
    from pocketmt.engine.bundled import resolve_model
    from pocketmt.interop.formats import recognize
    from pocketmt.model_file.report import inspect_model

    path = resolve_model(model)
    return inspect_model(path) if path.is_file() and recognize(path) is None else None


def speed_note(report: "ModelReport") -> str:
    """Return a note on the speed of a small model of 4 bits or fewer, compared with 8 bits; empty for other models."""
    if report.architecture.model_dimension > SMALL:
        return ""
    if any("binary" in matrix.scheme for matrix in report.matrices):
        return BINARY_CODES
    return FOUR_BITS if any(matrix.code_bits <= 4 for matrix in report.matrices) else ""


def show_next(*commands: str) -> None:
    """Print commands to type next."""
    for number, command in enumerate(commands):
        click.echo(f"{'next: ' if number == 0 else '  or: '}{command}", err=True)


def quoted(path: Path) -> str:
    """Return a path as it is typed in a shell, also of a file that is called like a bundled model."""
    from pocketmt.engine.bundled import bundled_model

    name = str(path)
    return shlex.quote(name if bundled_model(name) is None else f"./{name}")
