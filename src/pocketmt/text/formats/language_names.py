"""Columns and fields that are named by the languages of their text."""

from collections.abc import Sequence
from functools import lru_cache

from pocketmt.text.formats.format import Languages
from pocketmt.text.language_tags import find_language, primary_subtag
from pocketmt.text.languages import is_language_name


@lru_cache(64)  # The records of a file have the same names.
def names_of_sides(names: tuple[str, ...], languages: Languages) -> tuple[str | None, str | None]:
    """Return the names of the source and the target among names of columns or fields.

    The code of a name may be another one of the same language, or that of another region if there is none of the same.

    Args:
        names: of all columns or fields.
        languages: of the source and the target; "": unknown, so that nothing is named by it.

    Returns:
        The two names; None for a side that no name, or more than one, stands for.
    """
    codes = [name for name in names if is_language_name(name)]
    source, target = (_find(language, names, codes) for language in languages)
    if source == target and languages[0] != languages[1]:
        return None, None  # One text is not both sides: en for en-US and en-GB.
    return source, target


def _find(language: str, names: Sequence[str], codes: Sequence[str]) -> str | None:
    if not language:
        return None
    if language in names:
        return language
    found = find_language(language, codes)
    if found is not None:
        return found
    same = [code for code in codes if primary_subtag(code) == primary_subtag(language)]
    return same[0] if len(same) == 1 else None
