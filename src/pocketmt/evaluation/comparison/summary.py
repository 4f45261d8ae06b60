"""The findings of a comparison in a few words and numbers."""

from statistics import median
from typing import Final

from pocketmt.evaluation.comparison.record import Comparison
from pocketmt.evaluation.quality import few_lines_warning

_SIGNIFICANT: Final = 0.05


def megabytes(size: int) -> str:
    """Return a size in megabytes of 1,000,000 bytes."""
    return f"{size / 1e6:,.2f} MB"


def percent(share: float) -> str:
    """Return a share of 1 in percent; all and nothing only where it is so."""
    text = f"{100 * share:.1f} %"
    if text == "100.0 %":
        return "100 %" if share == 1 else "more than 99.9 %"
    return "less than 0.1 %" if text == "0.0 %" and share > 0 else text


def times(ratio: float) -> str:
    """Return a ratio with three digits."""
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.2f}"


def tiles(comparison: Comparison) -> list[tuple[str, str]]:
    """Return the findings as a number and what it is."""
    size, _, instead = _sizes(comparison).partition(" instead ")
    found = [(size, f"instead {instead}")]
    for each in comparison.differences:
        found.append(
            (
                f"{each.gain:+.2f} {each.name}",
                f"{each.baseline:.2f} before, {each.system:.2f} now; p = {each.p_value:.3f}",
            )
        )
    if comparison.agreement is not None:
        found.append((percent(comparison.agreement.same), "same next piece after the same beginning"))
    found.append((percent(comparison.outputs.identical), "translations are the same"))
    found.append((f"{comparison.outputs.chrf:.1f} chrF", "between the outputs; 100: equal"))
    first, second = comparison.original.speed, comparison.small.speed
    if first is not None and second is not None:
        faster = median(second.words_per_second) / median(first.words_per_second)
        found.append((f"{times(faster)} x", "as many words a second"))
        memory = second.peak_memory_bytes, first.peak_memory_bytes
        found.append((megabytes(memory[0]), f"peak memory instead of {megabytes(memory[1])}"))
    return found


def headline(comparison: Comparison) -> str:
    """Return what the comparison says, in a sentence or two."""
    # A recipe may make a file larger, and the two models may be given in the wrong order.
    which = "smaller" if comparison.small.sizes.file_bytes < comparison.original.sizes.file_bytes else "second"
    text = f"The {which} model takes {_sizes(comparison)}"
    if not comparison.differences:
        return f"{text}. {percent(comparison.outputs.identical)} of {comparison.lines:,} translations are the same."
    bleu = comparison.differences[0]
    if bleu.p_value < _SIGNIFICANT:
        change = "gains" if bleu.gain > 0 else "loses"
        points = f"{abs(bleu.gain):.2f} {bleu.name} points on {comparison.lines:,} lines"
        found = f"{text}, and {change} {points} (p = {bleu.p_value:.3f})."
    else:
        found = (
            f"{text}. Its {bleu.name} differs by {bleu.gain:+.2f} on {comparison.lines:,} lines, which may be chance "
            f"(p = {bleu.p_value:.3f})."
        )
    return f"{found} {few_lines_warning(comparison.lines)}".rstrip()


def _sizes(comparison: Comparison) -> str:
    before, now = comparison.original.sizes.file_bytes, comparison.small.sizes.file_bytes
    ratio = ""
    if now != before:
        ratio = f", {times(before / now)} times less" if now < before else f", {times(now / before)} times as much"
    return f"{megabytes(now)} instead of {megabytes(before)}{ratio}"
