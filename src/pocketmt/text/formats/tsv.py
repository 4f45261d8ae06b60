"""Tab-separated values: one record on each line, without quotation marks or escapes."""

from collections.abc import Iterable, Iterator, Sequence

from pocketmt.errors import DataError
from pocketmt.text.formats.format import Languages, Side, Unit, decode, number_lines, split_lines, unit_of_bytes
from pocketmt.text.formats.language_names import names_of_sides
from pocketmt.text.language_tags import primary_subtag
from pocketmt.text.languages import names_known_language


def read_units(blocks: Iterable[bytes | None], name: str, column: str, added: str) -> Iterator[Unit | None]:
    """Yield each record, to which the translation of one column is added as the last column.

    Args:
        blocks: bytes of the file; None means that the next bytes have not arrived.
        name: name of the file in messages.
        column: its number, from 1; or its name, if the first line names the columns.
        added: name of the new column, if the first line names the columns.

    Raises:
        DataError: a line has too few columns, or not as many as the first one names, or is not UTF-8; or the first line
            lacks `column` or has it twice, or has `added`.
    """
    counted = column_number(column)
    index = None if counted is None else counted - 1
    width: int | None = None  # As the first line names the columns.
    for item in number_lines(split_lines(blocks)):
        if item is None:
            yield None
            continue
        number, line, end = item
        cells = decode(line, name, number).split("\t")
        if index is None:
            index, width = _find_column(cells, column, added, f"{name}, line {number}"), len(cells)
            yield unit_of_bytes(line + f"\t{added}".encode() + end)
        elif not line:
            yield unit_of_bytes(line + end)
        elif width not in (None, len(cells)):  # The translation would be in another column.
            raise DataError(f"{name}, line {number}: {_columns(cells)}, but the first line names {width}: correct it")
        else:
            yield Unit((_cell(cells, index, name, number),), line + b"\t", _encode, end, number)


def column_number(column: str) -> int | None:
    """Return the number of a column that is not given by its name, from 1 in a file that has it; None for a name."""
    return int(column) if column.isascii() and column.isdecimal() else None


def read_sides(
    lines: Iterable[bytes], name: str, sides: Sequence[Side], languages: Languages | None
) -> Iterator[tuple[str, ...]]:
    """Yield the given sides of each record: the source is column 1 and the target column 2.

    Other columns are read if the first line names them: as `source` and `target`, or by codes of both languages. The
    side "translation" is the last column, or the one that the first line names `translation`. A blank line has empty
    sides. Raises DataError if a line has too few columns or is not UTF-8, or the first line names other languages, or
    does not name the translations among several columns.
    """
    columns = {"source": 0, "target": 1, "translation": -1}
    for item in number_lines(lines):
        assert item is not None
        number, line, _ = item
        cells = decode(line, name, number).split("\t")
        named = _named_columns(cells, sides, languages, f"{name}, line {number}") if number == 1 else None
        if named is not None:
            columns = named
        elif not line:
            yield ("",) * len(sides)
        else:
            yield tuple(_cell(cells, columns[side], name, number) for side in sides)


def _named_columns(
    cells: Sequence[str], sides: Sequence[Side], languages: Languages | None, where: str
) -> dict[str, int] | None:
    """Return the columns of the sides, if these cells name both sides, or the translations that are to be read."""
    names = tuple(cell.strip() for cell in cells)
    lowered = [name.lower() for name in names]
    if "translation" in sides and "translation" in lowered:
        return {"translation": lowered.index("translation")}
    if "source" in lowered and "target" in lowered:
        source, target = lowered.index("source"), lowered.index("target")
    else:
        found = (None, None) if languages is None else names_of_sides(names, languages)
        if found[0] is None or found[1] is None:
            _check_no_languages(names, languages, where)
            return None
        source, target = names.index(found[0]), names.index(found[1])
    if "translation" in sides and len(cells) > 2:
        raise DataError(f"{where}: several columns may hold the translations: name the right one 'translation'")
    return {"source": source, "target": target, "translation": target}


def _check_no_languages(names: Sequence[str], languages: Languages | None, where: str) -> None:
    """Raise DataError if the cells of the first line are codes of languages, but not of those of the text, if given.

    Two cells such as "to" and "zu" are text, if neither is a language of it.
    """
    if languages is None or len(names) < 2 or not all(map(names_known_language, names)):
        return
    spoken = {primary_subtag(language) for language in languages}
    plain = len(names) == 2 and all(name.isalpha() and primary_subtag(name) not in spoken for name in names)
    if plain and all(languages):
        return
    wanted = f"but the text is in {' and '.join(languages)}" if all(languages) else "and those of the text are unknown"
    raise DataError(
        f"{where}: the columns are named by the languages {', '.join(names)}, {wanted}: give another file, or "
        "rename the right columns to 'source' and 'target'"
    )


def _find_column(cells: Sequence[str], column: str, added: str, where: str) -> int:
    if column not in cells:
        raise DataError(
            f"{where}: there is no column {column!r}, only {', '.join(map(repr, cells))}: name one with --column"
        )
    if cells.count(column) > 1:
        raise DataError(f"{where}: several columns are named {column!r}: give the number of one, or rename the others")
    if added in cells:
        raise DataError(f"{where}: there is a column {added!r}: name the new one with --translation-field")
    return cells.index(column)


def _cell(cells: Sequence[str], index: int, name: str, number: int) -> str:
    if index >= len(cells):
        raise DataError(f"{name}, line {number}: {_columns(cells)}, expected at least {index + 1}, separated by tabs")
    return cells[index]


def _columns(cells: Sequence[str]) -> str:
    return "1 column" if len(cells) == 1 else f"{len(cells)} columns"


def _encode(translation: str) -> bytes:
    return " ".join(translation.split("\t")).encode()
