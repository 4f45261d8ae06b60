"""Lines whose translations changed, side by side."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from html import escape

from pocketmt.evaluation.comparison.outputs import words_and_spaces
from pocketmt.evaluation.comparison.record import ChangedLine, OutputAgreement
from pocketmt.model_file.report import printable


def changed_lines(lines: Sequence[ChangedLine], outputs: OutputAgreement) -> Iterator[str]:
    """Yield the section of the page; what one side alone has is marked."""
    yield "<h2>Translations that changed most</h2>"
    if not lines:
        yield "<p>None: all translations are the same.</p>"
        return
    changed = outputs.lines - round(outputs.identical * outputs.lines)
    yield f"<p>The {len(lines):,} least similar of {changed:,} changed lines, by chrF.</p>"
    for line in lines:
        first, second = _marked(line.original, line.small)
        references = "".join(f"<p><span>reference</span>{_text(each)}</p>" for each in line.references)
        yield (
            f'<div class="line"><p><span class="quiet">line {line.line:,}, chrF {line.chrf:.0f}: </span>'
            f'{_text(line.source)}</p><div class="sides"><p><span>original</span>{first}</p>'
            f"<p><span>smaller</span>{second}</p>{references}</div></div>"
        )


def _text(text: str) -> str:
    # The direction of one text must not change that of others.
    return f'<bdi dir="auto">{escape(printable(text))}</bdi>'


def _marked(original: str, small: str) -> tuple[str, str]:
    """Return both texts, with the words marked that the other one lacks."""
    first, second = words_and_spaces(original), words_and_spaces(small)
    sides: tuple[list[str], list[str]] = ([], [])
    for operation, start, end, other_start, other_end in SequenceMatcher(None, first, second, False).get_opcodes():
        for side, tag, words in (
            (sides[0], "del", first[start:end]),
            (sides[1], "ins", second[other_start:other_end]),
        ):
            text = escape(printable("".join(words)))
            side.append(text if operation == "equal" or not text else f"<{tag}>{text}</{tag}>")
    return (f'<bdi dir="auto">{"".join(sides[0])}</bdi>', f'<bdi dir="auto">{"".join(sides[1])}</bdi>')
