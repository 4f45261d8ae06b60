import pytest

from pocketmt.errors import ConfigurationError
from pocketmt.text.languages import check_language, check_same_languages, language_warning, names_known_language


@pytest.mark.parametrize(
    "code", ["en", "nd", "deu", "pt-BR", "zh-Hant", "zh_Hant_TW", "es-419", "EN", "ca-valencia", "x-mine"]
)
def test_codes_are_accepted_without_a_warning(code: str) -> None:
    check_language(code)
    assert language_warning(code) is None


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("french", "'french' is not the code of a language: write 'fr'"),
        ("German", "write 'de'"),
        ("frensh", "write 'fr'"),
        ("english (US)", "write a code of ISO 639 such as 'en'"),
        ("", "write a code of ISO 639"),
        ("e", "write a code of ISO 639"),
        ("de..", "write a code of ISO 639"),
    ],
)
def test_other_text_is_refused_with_a_suggestion(code: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        check_language(code)
    assert message in str(caught.value)


@pytest.mark.parametrize(("code", "warning"), [("xx", "code 'xx' (ISO 639)"), ("jp", "do you mean 'ja'?")])
def test_unknown_codes_have_a_warning(code: str, warning: str) -> None:
    check_language(code)
    assert warning in (language_warning(code) or "")


@pytest.mark.parametrize(
    ("languages", "others"),
    [(("eng_Latn", "deu_Latn"), ("en", "de")), (("ger", "zho_Hans"), ("de-AT", "zh-TW")), (("arz", "fil"),) * 2],
)
def test_a_language_has_several_codes(languages: tuple[str, str], others: tuple[str, str]) -> None:
    check_same_languages("a", languages, "b", others)


def test_other_languages_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="the target language of a is deu_Latn, that of b is nl"):
        check_same_languages("a", ("eng_Latn", "deu_Latn"), "b", ("en", "nl"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("de", True),
        ("EN", True),
        ("pt-BR", True),
        ("deu", True),
        ("ace_Arab", True),
        ("No", False),
        ("xx", False),
        ("the", False),
        ("text", False),
        ("", False),
    ],
)
def test_codes_of_known_languages_are_told_from_words(text: str, expected: bool) -> None:
    assert names_known_language(text) == expected
