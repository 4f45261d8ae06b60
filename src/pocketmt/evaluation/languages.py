"""The languages of a translation by several models, which may name them by different codes."""

from collections.abc import Sequence

from pocketmt.engine import TranslationOptions, Translator
from pocketmt.text.formats.format import primary_subtag


def with_own_codes(search: TranslationOptions, translator: Translator) -> TranslationOptions:
    """Return options with the codes by which a model names their languages: deu_Latn for de.

    Raises EngineError if the model does not have a language, or has it in several scripts or regions.
    """
    source, target = search.get("source_language"), search.get("target_language")
    found: TranslationOptions = {
        **search,
        "source_language": _own_code(source, translator.source_languages),
        "target_language": _own_code(target, translator.target_languages),
    }
    translator.translate([], **found)  # An error comes now, not after the translation by another model.
    return found


def languages_of(search: TranslationOptions, translator: Translator) -> tuple[str, str]:
    """Return the languages of a translation: those of its options, or the model's own."""
    source, target = search.get("source_language"), search.get("target_language")
    return source or translator.source_language, target or translator.target_language


def _own_code(code: str | None, known: Sequence[str]) -> str | None:
    if code is None or code in known:
        return code
    same = [each for each in known if primary_subtag(each) == primary_subtag(code)]
    return same[0] if len(same) == 1 else code
