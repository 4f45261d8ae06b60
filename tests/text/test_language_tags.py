"""Tags of languages: which of a model's codes another code stands for."""

import pytest

from pocketmt.text.language_tags import find_language, primary_subtag, standard_tag


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("en", "en"),
        ("en-US", "en"),
        ("eng_Latn", "en"),
        ("GER", "de"),
        ("iw", "he"),
        ("ast_Latn", "ast"),
        ("x-mine", "x-mine"),
        ("", ""),
    ],
)
def test_primary_subtags(tag: str, expected: str) -> None:
    assert primary_subtag(tag) == expected


@pytest.mark.parametrize(
    ("tag", "known", "expected"),
    [
        ("de", ("deu_Latn", "fra_Latn"), "deu_Latn"),
        ("deu_Latn", ("de", "fr"), "de"),
        ("deu", ("ger",), "ger"),
        ("pt-BR", ("por_Latn",), "por_Latn"),
        ("pt_br", ("pt-PT", "pt-BR"), "pt-BR"),
        ("es-419", ("es-ES", "es"), "es"),
        ("pt-BR", ("pt-PT",), None),
        ("zh", ("zho_Hans", "zho_Hant"), None),
        ("zh", ("zho_Hans", "zh"), "zh"),
        ("zh-Hant", ("zho_Hans", "zho_Hant"), "zho_Hant"),
        ("zh-Hant-TW", ("zho_Hans",), None),
        ("xx", ("de", "en"), None),
        ("x-mine", ("x-yours",), None),
        ("", ("de",), None),
    ],
)
def test_languages_are_found_by_other_codes(tag: str, known: tuple[str, ...], expected: str | None) -> None:
    assert find_language(tag, known) == expected


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("de", "de"),
        ("deu_Latn", "de"),
        ("zho_Hans", "zh-Hans"),
        ("arb_Latn", "ar-Latn"),
        ("kor_Hang", "ko"),
        ("pt_BR", "pt-BR"),
        ("zh_Hant_TW", "zh-Hant-TW"),
        ("ace_Arab", "ace-Arab"),
        ("x-mine", "x-mine"),
        ("", ""),
    ],
)
def test_tags_are_written_as_bcp_47_recommends(tag: str, expected: str) -> None:
    assert standard_tag(tag) == expected
