"""Language tags that differ and name the same language: de, deu and deu_Latn."""

from collections.abc import Iterable
from typing import Final

# Codes that were replaced; browsers take them for the new ones, too.
_FORMER: Final = {"iw": "he", "in": "id", "ji": "yi", "mo": "ro"}
_MOST_NAMED: Final = 20  # languages that a message names


def primary_subtag(language: str) -> str:
    """Return the language of a language tag, without script and region: en for en-US and eng_Latn.

    A language that has a code of two letters is named by that. A tag for private use, such as x-mine, has no subtags.
    """
    primary = _parts(language)[0]
    if len(primary) != 3:
        return _FORMER.get(primary, primary)
    from pocketmt.text.iso_639 import TWO_LETTERS  # Few tags need it.

    return TWO_LETTERS.get(primary, primary)


def script_subtag(language: str) -> str:
    """Return the script of a language tag, by its code of ISO 15924: Cyrl for uz-Cyrl and uzn_Cyrl; "": it has none."""
    return _script_and_region(language)[0].title()


def find_language(tag: str, known: Iterable[str]) -> str | None:
    """Return the tag among `known` that names the same language: deu_Latn for de.

    A script or region that only one of two tags has makes no difference.

    None: there is none, or there are several.
    """
    codes = tuple(known)
    if tag in codes:
        return tag
    same = agreeing_tags(tag, codes)
    return same[0] if len(same) == 1 else None


def agreeing_tags(tag: str, known: Iterable[str]) -> list[str]:
    """Return the tags among `known` that may name the same language, in order: zho_Hans and zho_Hant for zh."""
    return [code for code in known if _agree(tag, code)]


def why_unknown(tag: str, known: Iterable[str]) -> str:
    """Return why `find_language` finds no tag of a model, as the end of a message that has named the given one."""
    codes = tuple(known)
    if several := agreeing_tags(tag, codes):
        return f"which may be any of {', '.join(several)} in this model: give one of these codes"
    return f"which the model does not have; it has {first_codes(codes)}"


def first_codes(known: Iterable[str]) -> str:
    """Return the first codes of a model's languages as a message names them, and how many more there are."""
    codes = tuple(known)
    more = len(codes) - _MOST_NAMED
    return ", ".join(codes[:_MOST_NAMED]) + (f" and {more} more (`pocketmt inspect` names all)" if more > 0 else "")


def standard_tag(language: str) -> str:
    """Return a language tag as BCP 47 recommends it: de for deu_Latn, zh-Hans for zho_Hans, pt-BR for pt_BR.

    The script is left out if it is the usual one of the language.
    """
    primary = primary_subtag(language)
    if primary.startswith("x-"):
        return primary
    others = language.replace("_", "-").split("-")[1:]
    if others and len(others[0]) == 4:
        from pocketmt.text.usual_scripts import USUAL_SCRIPTS  # Few tags have a script.

        if others[0].title() in USUAL_SCRIPTS.get(primary, ()):
            del others[0]
    return "-".join((primary, *others))


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
    normal = tag.replace("_", "-").lower()
    return [normal] if normal.startswith("x-") else normal.split("-")
