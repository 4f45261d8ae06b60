"""Language tags that differ and name the same language: de, deu and deu_Latn."""

from collections.abc import Iterable


def primary_subtag(language: str) -> str:
    """Return the language of a language tag, without script and region: en for en-US and eng_Latn.

    A language that has a code of two letters is named by that.
    """
    primary = _parts(language)[0]
    if len(primary) != 3:
        return primary
    from pocketmt.text.iso_639 import TWO_LETTERS  # Few tags need it.

    return TWO_LETTERS.get(primary, primary)


def find_language(tag: str, known: Iterable[str]) -> str | None:
    """Return the tag among `known` that names the same language: deu_Latn for de.

    A script or region that only one of two tags has makes no difference.

    None: there is none, or there are several.
    """
    codes = tuple(known)
    if tag in codes:
        return tag
    same = [code for code in codes if _agree(tag, code)]
    return same[0] if len(same) == 1 else None


def _agree(tag: str, other: str) -> bool:
    if primary_subtag(tag) != primary_subtag(other):
        return False
    pairs = zip(_script_and_region(tag), _script_and_region(other), strict=True)
    return all(one == two or not (one and two) for one, two in pairs)


def _script_and_region(tag: str) -> tuple[str, str]:
    parts = _parts(tag)[1:]
    script = next((part for part in parts if len(part) == 4 and part.isalpha()), "")
    region = next((part for part in parts if len(part) == 2 or (len(part) == 3 and part.isdecimal())), "")
    return script, region


def _parts(tag: str) -> list[str]:
    return tag.replace("_", "-").lower().split("-")
