"""The languages of a translation by several models, which may name them by different codes."""

from pocketmt.engine import TranslationOptions, Translator


def languages_of(search: TranslationOptions, translator: Translator) -> tuple[str, str]:
    """Return the languages of a translation: those of its options, or the model's own.

    Raises EngineError if the model does not have a language, or has it in several scripts or regions.
    """
    translator.translate([], **search)  # An error comes now, not after the translation by another model.
    source, target = search.get("source_language"), search.get("target_language")
    return source or translator.source_language, target or translator.target_language
