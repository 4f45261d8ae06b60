"""Files of terms: a source term, a tab and its target term on each line."""

from pathlib import Path

from pocketmt.errors import DataError
from pocketmt.text.corpus import read_plain_lines


def read_terms(path: Path) -> dict[str, str]:
    """Return the target term of each source term; blank lines are left out.

    Raises DataError, with the line, if a line has not two columns with text, or a source term has two target terms.
    """
    terms: dict[str, str] = {}
    for number, line in enumerate(read_plain_lines(path), start=1):
        if not line.strip():
            continue
        columns = [column.strip() for column in line.split("\t")]
        if len(columns) != 2 or not all(columns):
            raise DataError(f"{path}, line {number}: expected a source term, a tab and its target term")
        source, target = columns
        if terms.setdefault(source, target) != target:
            raise DataError(f"{path}, line {number}: {source!r} already has the term {terms[source]!r}: correct it")
    if not terms:
        raise DataError(f"{path} has no terms: expected lines of a source term, a tab and its target term")
    return terms
