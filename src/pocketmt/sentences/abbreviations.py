"""Abbreviations and words that start sentences, by language, from abbreviations.toml."""

from functools import cache
from typing import Final

# A full stop after a number of one or two digits makes it an ordinal number, as in "3. Oktober".
ORDINAL_LANGUAGES: Final = frozenset(
    (
        "bs",
        "cs",
        "da",
        "de",
        "et",
        "fi",
        "fo",
        "hr",
        "hu",
        "is",
        "lb",
        "lv",
        "nb",
        "nn",
        "no",
        "pl",
        "sk",
        "sl",
        "sr",
        "tr",
    )
)


@cache
def words(kind: str, language: str) -> frozenset[str]:
    """Return the words of one kind for a language: the common ones, and those of its table if there is one.

    Args:
        kind: "never_final", "before_number", "sometimes_final" or "starters"; abbreviations.toml says what they are.
        language: ISO 639-1 code.
    """
    tables = _tables()
    return frozenset(word for name in ("common", language) for word in tables.get(name, {}).get(kind, "").split())


@cache
def _tables() -> dict[str, dict[str, str]]:
    import tomllib
    from importlib.resources import files

    return tomllib.loads(files(__package__).joinpath("abbreviations.toml").read_text(encoding="utf-8"))
