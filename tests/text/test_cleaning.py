import itertools
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocketmt.errors import ConfigurationError
from pocketmt.text.cleaning import Cleaning, CleaningReport, Reason, clean, knows
from pocketmt.text.language_identification import NOT_IDENTIFIED, LanguageIdentification
from pocketmt.text.normalization import normalize
from pocketmt.text.scripts import known_languages

# Few words, so that empty, identical and duplicate pairs are frequent.
lines = st.lists(st.sampled_from(["ein", "Haus", "x"]), max_size=12).map(" ".join) | st.text(max_size=8)
corpora = st.lists(st.tuples(lines, lines), max_size=30)
cleanings = st.builds(
    Cleaning,
    maximum_length=st.integers(1, 10),
    maximum_ratio=st.floats(1, 4),
    ratio_slack=st.integers(0, 3),
    remove_identical=st.booleans(),
    remove_duplicates=st.booleans(),
)


def cleaned(pairs: list[tuple[str, str]], cleaning: Cleaning) -> tuple[list[tuple[str, str]], CleaningReport]:
    report = CleaningReport()
    return list(clean(pairs, cleaning, report)), report


@given(corpora, cleanings)
def test_every_pair_is_kept_or_counted_once(pairs: list[tuple[str, str]], cleaning: Cleaning) -> None:
    kept, report = cleaned(pairs, cleaning)
    assert report.kept == len(kept)
    assert report.read == len(pairs)


@given(corpora, cleanings)
def test_kept_pairs_are_unchanged_and_in_order(pairs: list[tuple[str, str]], cleaning: Cleaning) -> None:
    kept, _ = cleaned(pairs, cleaning)
    remaining = iter(pairs)
    assert all(pair in remaining for pair in kept)


@given(corpora, cleanings)
def test_kept_pairs_fulfil_the_conditions(pairs: list[tuple[str, str]], cleaning: Cleaning) -> None:
    kept, _ = cleaned(pairs, cleaning)
    normalized = [(normalize(source), normalize(target)) for source, target in kept]
    for source, target in normalized:
        shorter, longer = sorted((len(source.split()), len(target.split())))
        assert shorter > 0 and longer <= cleaning.maximum_length
        assert longer <= cleaning.maximum_ratio * shorter + cleaning.ratio_slack
        assert source != target or not cleaning.remove_identical
    assert len(set(normalized)) == len(normalized) or not cleaning.remove_duplicates


@given(corpora, cleanings)
def test_clean_text_is_kept(pairs: list[tuple[str, str]], cleaning: Cleaning) -> None:
    kept, _ = cleaned(pairs, cleaning)
    again, report = cleaned(kept, cleaning)
    assert again == kept
    assert sum(report.removed.values()) == 0


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        (("", "Haus"), Reason.EMPTY),
        (("house", " \t\u00a0 "), Reason.EMPTY),
        (("house", "\x00\x07"), Reason.EMPTY),
        (("a b c d e f", "a"), Reason.TOO_LONG),
        (("a b c d e", "f"), Reason.RATIO),
        (("f", "a b c d e"), Reason.RATIO),
        (("same  text", "same text"), Reason.IDENTICAL),
        (("a b c d", "e b a d"), Reason.COPIED),
        (("a b", "x x x x"), Reason.REPETITION),
        (("a b a b a b", "x y"), Reason.REPETITION),
        (("12 % 3 a", "x"), Reason.LETTERS),
        (("a", "кот"), Reason.LETTERS),
        (("The cat sleeps on the warm stove.", "Le chat dort sur le poêle chaud."), Reason.LANGUAGE),
        (("Die Katze schläft auf dem warmen Ofen.", "Unter dem Ofen schläft eine Maus."), Reason.LANGUAGE),
        (("a house", " ein\u00a0Haus"), Reason.DUPLICATE),
    ],
)
def test_each_reason(pair: tuple[str, str], reason: Reason) -> None:
    cleaning = Cleaning(
        maximum_length=7 if reason in (Reason.LANGUAGE, Reason.REPETITION) else 5,
        maximum_ratio=2,
        ratio_slack=2,
        maximum_copied=0.7,
        maximum_repetitions=2,
        languages=("en", "de"),
        minimum_letters=0.5,
        minimum_language_probability=0.5 if reason is Reason.LANGUAGE else 0.0,
    )
    kept, report = cleaned([("a house", "ein Haus"), pair], cleaning)
    assert kept == [("a house", "ein Haus")]
    assert report.removed == {**dict.fromkeys(Reason, 0), reason: 1}


def test_bounds_are_inclusive() -> None:
    pairs = [("a b c d e", "f g"), ("a b c d", "f")]
    kept, _ = cleaned(pairs, Cleaning(maximum_length=5, maximum_ratio=2, ratio_slack=2))
    assert kept == pairs


@pytest.mark.parametrize(
    ("line", "repeats"),
    [
        ("ha ha ha", False),
        ("so ha ha ha ha", True),
        ("one two one two one two one", False),
        ("and one two one two one two one two", True),
        ("1 2 3 4 1 2 3 4 1 2 3 4 1 2 3 4", True),
        ("1 2 3 4 5 1 2 3 4 5 1 2 3 4 5 1 2 3 4 5", False),  # longer than what counts
        ("a b a c a d a e a", False),
    ],
)
def test_repetitions_are_limited(line: str, repeats: bool) -> None:
    cleaning = Cleaning(maximum_repetitions=3, maximum_ratio=100)
    for pair in ((line, "some words"), ("some words", line)):
        _, report = cleaned([pair], cleaning)
        assert report.removed[Reason.REPETITION] == repeats


def test_names_and_short_lines_may_be_copied() -> None:
    pairs = [("Angela Merkel visits Paris", "Angela Merkel besucht Paris"), ("Paris 2024 !", "Paris 2024 !!")]
    assert cleaned(pairs, Cleaning(maximum_copied=0.75))[0] == pairs
    assert cleaned(pairs, Cleaning(maximum_copied=0.74))[0] == pairs[1:]
    more = [("a b", "b b b a")]  # a word is copied as often as it is there: half of the four
    assert cleaned(more, Cleaning(maximum_copied=0.5))[0] == more


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("de", "Über Größe spricht ß."),
        ("vi", "Tiếng Việt có dấu"),
        ("ru", "Это ёлка, большая."),
        ("el", "Η γάτα κοιμάται"),
        ("hi", "बिल्ली सो रही है"),
        ("th", "แมวนอนหลับ"),
        ("ar", "القطة نائمة"),
        ("ja", "猫がストーブで寝ている。"),
        ("ko", "고양이가 잔다"),
    ],
)
def test_letters_of_many_scripts_are_known(language: str, line: str) -> None:
    cleaning = Cleaning(languages=(language, language), minimum_letters=0.75, remove_identical=False)
    assert cleaned([(line, line)], cleaning)[0]
    other = "ru" if language != "ru" else "de"
    assert not cleaned([(line, line)], Cleaning(languages=(other, other), minimum_letters=0.25))[0]


def test_known_languages_are_identified() -> None:
    known = tuple(filter(knows, known_languages()))
    assert LanguageIdentification(known) and len(known) > 90
    for language in NOT_IDENTIFIED:
        with pytest.raises(ConfigurationError):
            LanguageIdentification((language,))


def test_languages_may_have_scripts_regions_and_codes_of_three_letters() -> None:
    pairs = [
        ("The cat sleeps on the warm stove.", "Die Katze schläft auf dem warmen Ofen."),
        ("The cat sleeps on the warm stove.", "Кошка спит на тёплой печке."),
        ("The cat sleeps on the warm stove.", "Le chat dort sur le poêle chaud."),
    ]
    cleaning = Cleaning(languages=("eng_Latn", "de-AT"), minimum_letters=0.5, minimum_language_probability=0.5)
    kept, report = cleaned(pairs, cleaning)
    assert kept == pairs[:1]
    assert report.removed[Reason.LETTERS] == report.removed[Reason.LANGUAGE] == 1


@pytest.mark.parametrize(
    ("language", "line", "other"),
    [
        ("uz-Cyrl", "Мушук печка устида ухлаяпти.", "uz_Latn"),
        ("uzn_Cyrl", "Мушук печка устида ухлаяпти.", "uzn_Latn"),
        ("srp_Latn", "Mačka spava na peći.", "sr-Cyrl"),
        ("sr-Latn-RS", "Mačka spava na peći.", "sr-cyrl-RS"),
        ("pa-Arab", "بلی چولھے تے سوں رہی اے۔", "pan_Guru"),
        ("azb_Arab", "پیشیک یاتیر", "az"),
        ("zh-Hans", "猫在炉子上睡觉。", "zh-Latn"),
        ("yue_Hant", "隻貓喺爐上面瞓緊覺。", "yue_Latn"),
        ("ja-Jpan", "猫がストーブで寝ている。", "ja-Latn"),
        ("kor_Kore", "고양이가 잔다", "ko-Latn"),
        ("qq-Deva", "बिल्ली सो रही है", "qq-Latn"),
        ("sat_Olck", "ᱯᱩᱥᱤ ᱡᱟᱹᱯᱤᱫ ᱠᱟᱱᱟᱭ", "sat_Deva"),
    ],
)
def test_a_script_of_the_tag_counts_instead_of_that_of_the_language(language: str, line: str, other: str) -> None:
    def reasons(tag: str) -> int:
        cleaning = Cleaning(languages=(tag, "en"), minimum_letters=0.75)
        return cleaned([(line, "The cat sleeps on the stove.")], cleaning)[1].removed[Reason.LETTERS]

    assert (reasons(language), reasons(other)) == (0, 1)


@pytest.mark.parametrize("language", ["qq", "de-Abcd"])
def test_a_language_without_a_known_script_has_a_remedy(language: str) -> None:
    remedy = f"the language {language!r}: add its script as in '{language[:2]}-Latn', give --minimum-letters 0"
    with pytest.raises(ConfigurationError, match=remedy):
        clean([], Cleaning(languages=("en", language), minimum_letters=0.5), CleaningReport())


def test_unknown_languages_are_refused_before_anything_is_read() -> None:
    never: Iterator[tuple[str, str]] = (pytest.fail("read") for _ in range(1))
    with pytest.raises(ConfigurationError, match="no script is known for the language 'qq'"):
        clean(never, Cleaning(languages=("en", "qq"), minimum_letters=0.5), CleaningReport())
    with pytest.raises(ConfigurationError, match="'qq' cannot be identified"):
        clean(never, Cleaning(languages=("en", "qq"), minimum_language_probability=0.5), CleaningReport())


def test_one_source_with_two_translations_is_not_a_duplicate() -> None:
    pairs = [("a b", "c"), ("a", "b c"), ("a b", "d")]
    kept, _ = cleaned(pairs, Cleaning())
    assert kept == pairs


def test_identical_and_duplicate_pairs_can_be_kept() -> None:
    pairs = [("Berlin", "Berlin"), ("Berlin", "Berlin")]
    kept, _ = cleaned(pairs, Cleaning(remove_identical=False, remove_duplicates=False))
    assert kept == pairs


def test_pairs_are_read_one_at_a_time() -> None:
    drawn = itertools.count()

    def endless() -> Iterator[tuple[str, str]]:
        for number in drawn:
            yield f"line {number}", f"Zeile {number}"

    assert len(list(itertools.islice(clean(endless(), Cleaning(), CleaningReport()), 10))) == 10
    assert next(drawn) == 10


def test_lines_may_be_split_otherwise() -> None:
    report = CleaningReport()
    pairs = [("ab cd", "xy"), ("abcdefg", "xy")]
    assert list(clean(pairs, Cleaning(maximum_length=6), report, split=list)) == pairs[:1]
    assert report.removed[Reason.TOO_LONG] == 1


def test_lone_surrogates_are_accepted() -> None:
    kept, _ = cleaned([("broken \udcff", "kaputt \udcff")], Cleaning())
    assert len(kept) == 1


def test_the_summary_of_a_report() -> None:
    _, report = cleaned([("a", "b"), ("a", "b"), ("", "b"), ("", "")], Cleaning())
    assert str(report) == "kept 1 of 4 pairs; left out: 2 empty, 1 duplicate"
    assert str(CleaningReport(kept=3)) == "kept 3 of 3 pairs"


@pytest.mark.parametrize(
    "wrong",
    [
        {"maximum_length": 0},
        {"maximum_ratio": 0.5},
        {"maximum_ratio": float("nan")},
        {"ratio_slack": -1},
        {"maximum_copied": 1.5},
        {"maximum_repetitions": 0},
        {"minimum_letters": 0.5},  # without languages
    ],
)
def test_impossible_bounds_are_refused_by_name(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        Cleaning(**wrong)  # type: ignore[arg-type]
