"""Translations by the WebAssembly engine: the tokens of the native engine, for every scheme and architecture."""

from pathlib import Path
from typing import Any

import pytest

from pocketmt.engine import Translator
from pocketmt.engine.bundled import resolve_model
from pocketmt.engine.loading import native_model
from pocketmt.model_file import open_model
from pocketmt.model_file.language_pieces import LanguagePieces
from pocketmt.packing.contents import ModelContents, PackingOptions
from pocketmt.packing.model_file import pack
from pocketmt.quantization.row_groups import RowGroup
from pocketmt.text.vocabulary import Vocabulary
from tests.engine.conftest import search_options, sentences
from tests.engine.reference import architecture, random_network
from tests.engine.test_schemes import METADATA, SCHEMES
from tests.engine.text.test_languages import LINES, OF_SOURCE, OF_TRANSLATION, translator
from tests.native.test_aarch64 import MODELS
from tests.web.node import ENGINES, missing, run_jobs, translations_of_both

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

SOURCES = sentences(8)
BUNDLED = ("captions-en-de", "captions-en-de-8bit")
TEXT = [
    "A man rides a bike. Two dogs are running through the snow!",
    "",
    "  Dr. Smith reads a book, see https://example.org/a?b=1 for more.  Yes.",
    "12 %",
    "A girl in a karate uniform breaking a stick with a front kick.\tShe wears a ＲＥＤ hat…",
]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, vocabulary: Vocabulary) -> list[Path]:
    """Random models: all schemes, as they are and entropy-coded, and architectures with integer products."""
    folder = tmp_path_factory.mktemp("models")
    network = random_network(architecture())
    paths = []
    for index, scheme in enumerate(SCHEMES.values()):
        choice = {"*": (RowGroup(scheme),)}
        contents = ModelContents(network.state_dict(), network.architecture, vocabulary.model, choice, METADATA)
        for coded in (False, True):
            paths.append(folder / f"scheme-{index}-{coded}.pocketmt")
            pack(paths[-1], contents, PackingOptions(entropy_coding=coded))
    for index, write_model in enumerate(MODELS.values()):
        paths.append(folder / f"model-{index}.pocketmt")
        write_model(paths[-1], vocabulary)
    return paths


def native_tokens(path: Path, beam_size: int) -> list[list[int]]:
    with open_model(path) as file:
        results = native_model(file).translate(SOURCES, search_options(beam_size=beam_size))
    return [hypotheses[0][0] for hypotheses in results]


@pytest.mark.parametrize("engine", ENGINES)
def test_kernels_are_those_of_the_reference(engine: str) -> None:
    assert run_jobs([{"kind": "check"}], engine) == [{"result": None}]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_scheme_and_architecture(models: list[Path], engine: str) -> None:
    def job(path: Path, beam: int) -> dict[str, Any]:
        return {"kind": "ids", "path": str(path), "sources": SOURCES, "options": {"beamSize": beam}}

    cases = [(path, beam) for path in models for beam in (1, 4)]
    results = run_jobs([job(*case) for case in cases], engine)
    differing = [
        (path.name, beam, found.get("message"))
        for (path, beam), found in zip(cases, results, strict=True)
        if found.get("result") != native_tokens(path, beam)
    ]
    assert not differing


def test_invisible_characters() -> None:
    name, lines = (
        BUNDLED[0],
        ["\ufeff", " \u200b ", "\ufeff\x1f", "\x1f", "A man. \ufeff", "\u200eA man.\u200b Two d\u00adogs."],
    )
    [found] = run_jobs([{"kind": "lines", "path": str(resolve_model(name)), "lines": lines}])
    assert found == {"result": Translator(name).translate(lines)}
    assert found["result"][:4] == [""] * 4
    assert found["result"][5] == Translator(name).translate(["A man.  Two dogs."])[0]


def test_capitals() -> None:
    lines = [
        "WHERE IS THE TRAIN STATION?",
        "STOP! Go home. I AM {NAME}. A",
        "EXIT 😀 NO SMOKING %d",
        "I LIVE IN THE USA",
        "HELLO {name}, GO TO www.a.b! <b>WHERE</b> IS IT?",
        "HELLO \u2170\U0001f525 a@b.de \u201c",
        "{0} \u2163 (",
        "TV! USA 2024",
        "ABC我",
        "Day",
        "Red car",
        "The old car",
        "Day. Night",
        "Day 😀 {name}",
        "I was there at Dawn",
        "Łukasz & NASA, STOP",
        "Mark is here",
        "I met <b>Mark</b> yesterday.",
        "Use iPhone",
        "English breakfast",
        "Die Eiscrème und Raúl",
        "The CEO of IBM met the CFO.",
        "Price 5.50 €",
        "500 €/month",
        "I am NOT here; the WHO is.",
        "AT&T",
        " ".join(["WE ARE HERE AND IT IS LATE"] * 20),
    ]
    for translations in translations_of_both(lines, "everyday-en-de", "everyday-de-en", "captions-en-de"):
        assert translations[0].isupper()


def test_stand_ins() -> None:
    lines = [
        "I love {person}.",
        "Tom gave %s %d dollars. Visit http://a.b/c?d=e today!",
        "I love {a}, {b}, {c}, {d} and {e}.",
        "Your code is 482913. It costs $25. In 2024 I was in Berlin. 1,234,567 people",
        "Du hast %d neue Nachrichten. Hello {name}, how are you? You have %lld dogs.",
        "Click <0>here</0>, :name! @tom #topic a.pdf example.com {{ x | y }} MP300x",
        "<b>I love $you</b> 😀",
        "I love $NAME$ and $t(friend.one). It was {when, date, short} in Berlin.",
        "I love {{- name}} and {{ value, currency(USD) }}. It costs 2.5 euros. Read $a-b@c$ and @:x.y now.",
        "The car costs 1,250.50 dollars. We saw 12,345 dogs at 8:30.",
        *(
            "We read [12] yesterday.",
            "Those are gifts. v1.2.3",
            "Use v1.2.3 now.",
            "Install V2.0-beta.1 or 1.2.3 first.",
        ),
        "I love {person}.  It is late. Good night 😀\tI LOVE {x}. Visit HTTP://A.B/C today. {{ name }} is here.\n",
    ]
    [found] = run_jobs([{"kind": "lines", "path": str(resolve_model("everyday-en-de")), "lines": lines}])
    assert found == {"result": Translator("everyday-en-de").translate(lines)}
    assert "{person}" in found["result"][0]
    assert "[12]" in found["result"][-5]


def test_abbreviations() -> None:
    english = [
        *(
            "Bring fruit, e.g. apples, i. e.\u00a0these, etc.",
            'He said: "Milk, bread, etc."',
            "(milk, etc.) vs Mary vs. Tom",
        ),
        *("Approx. 20 people came, incl. Tom. E.g. this one.", "fetch it, ETC., a.e.g. b, Etc. Then /etc/x."),
        *("Milk, etc. Then bread...", "vs-code, `vs` and {vs} or $vs", "It takes approx. two hours, etc..."),
    ]
    german = [
        *(
            "Obst, z. B. Äpfel, d.\u202fh. rote usw.",
            "Ca. 20 bzw. 30, ggf. evtl. inkl. Tom.",
            "Das ist i. d. R. so, u.a. hier.",
        ),
        *("Z.B. so. Milch etc", "zB, usw, bzw"),
    ]
    translations_of_both(english, "everyday-en-de")
    translations_of_both(german, "everyday-de-en")


def test_marks_around_sentences() -> None:
    lines = [
        *("- milk", " 1. Wash your hands. I love {x}.", "a) Yes", "> - [ ] Hello 😀", "# Welcome", "A. Smith", "- - -"),
        *(
            "(Tom is here.)",
            "[laughs] I know %d men.",
            "**Hello!**",
            "milk\tbread\t25",
            "| Name | Age |",
            "| {a} | |",
            "**",
        ),
        *(
            "“Where are you?”",
            "‘Yes’, he said.",
            "She said, «no».",
            "I can´t sleep :)",
            "I <3 you :-(",
            "„Gut“",
            '“Don’t” "',
        ),
        *("Я люблю тебя.", "Hello. Я люблю тебя {x}. 你好", "I have 16 cats and $35 or 300 dogs.", "3. Mai", "1. Komm"),
    ]
    german, _ = translations_of_both(lines, "everyday-en-de", "everyday-de-en")
    assert (german[0], german[2]) == ("- Milch", "a) Ja")
    assert german[1].startswith(" 1. Wasch dir die Hände.")


def test_protected_parts() -> None:
    name = BUNDLED[0]
    lines = [
        "A man reads http://a.b/c?d=e in a park. A dog 😀 sees {name}, \U00020000%d",
        "A man.",
        "{x}{x}é\ud800http://a.b/c sees \ud800",
        "me@\u00ada.b sees <b>a dog</b>.",
        "$1 {a}{b} 👩‍👧! www.a.b",
    ]
    [found] = run_jobs([{"kind": "lines", "path": str(resolve_model(name)), "lines": lines}])
    assert found == {"result": Translator(name).translate(lines)}
    for part in ("http://a.b/c?d=e", "😀", "{name},", "%d"):
        assert part in found["result"][0]
    for part in ("me@a.b", "<b>", "</b>."):
        assert part in found["result"][3]
    assert found["result"][4] == lines[4]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("beam_size", [1, 4])
def test_lines_of_bundled_models(engine: str, beam_size: int) -> None:
    options = {"beamSize": beam_size}
    results = run_jobs(
        [{"kind": "lines", "path": str(resolve_model(name)), "lines": TEXT, "options": options} for name in BUNDLED],
        engine,
    )
    for name, found in zip(BUNDLED, results, strict=True):
        assert found == {"result": Translator(name).translate(TEXT, beam_size=beam_size)}


@pytest.mark.parametrize(
    ("pieces", "target", "options"),
    [
        (OF_SOURCE, "fra", {}),
        (OF_SOURCE, "fra", {"target_language": "deu", "max_length": 5}),
        (OF_SOURCE, "fra", {"target_language": "de_DE", "source_language": "eng_Latn"}),
        (OF_TRANSLATION, "cs", {"max_length": 5}),
        (OF_TRANSLATION, "cs", {"target_language": "en"}),
    ],
)
def test_models_of_several_languages(
    tmp_path: Path, pieces: LanguagePieces, target: str, options: dict[str, Any]
) -> None:
    lines = [f">>deu<< {LINES[0]}", ">>deu<<", *LINES[1:8]]
    expected = translator(tmp_path, pieces, "en", target).translate(lines, check=False, **options)
    names = {"source_language": "sourceLanguage", "target_language": "targetLanguage", "max_length": "maxLength"}
    given = {names[name]: value for name, value in options.items()}
    job = {"kind": "lines", "path": str(tmp_path / "model.pocketmt"), "lines": lines, "options": given}
    assert run_jobs([job]) == [{"result": expected}]


def test_a_line_must_name_a_language_if_none_is_chosen(tmp_path: Path) -> None:
    lines = [f">>deu<< {LINES[0]}"]
    expected = translator(tmp_path, OF_SOURCE, "en", "de").translate(lines, check=False)
    job = {"kind": "lines", "path": str(tmp_path / "model.pocketmt")}
    named, unnamed = run_jobs([job | {"lines": lines}, job | {"lines": LINES[:1]}])
    assert named == {"result": expected}
    assert unnamed["error"] == "EngineError"
    assert "give targetLanguage, one of deu, fra, or begin the line with a code as >>deu<<" in unnamed["message"]


@pytest.mark.parametrize(("source", "given"), [("deu_Latn", {}), ("", {"sourceLanguage": "deu"}), ("DE", {})])
def test_any_code_of_a_language_selects_its_rules_for_sentences(
    tmp_path: Path, source: str, given: dict[str, str]
) -> None:
    lines = ["Ich fahre am 3. Oktober nach Berlin."]
    expected = translator(tmp_path, None, source, "en").translate(lines, split=False, check=False)
    job = {"kind": "lines", "path": str(tmp_path / "model.pocketmt"), "lines": lines, "options": given}
    assert run_jobs([job]) == [{"result": expected}]


@pytest.mark.parametrize(
    ("pieces", "source", "code", "message"),
    [
        (
            LanguagePieces({"zho_Hans": "__en__", "zho_Hant": "__cs__"}, "translation"),
            "en",
            "zh",
            "may be any of zho_Hans, zho_Hant in this model",
        ),
        (None, "", "english", "'english', which is not the code of a language"),
    ],
)
def test_codes_that_are_refused(
    tmp_path: Path, pieces: LanguagePieces | None, source: str, code: str, message: str
) -> None:
    translator(tmp_path, pieces, source)
    options = {"targetLanguage": code}
    [refused] = run_jobs(
        [{"kind": "lines", "path": str(tmp_path / "model.pocketmt"), "lines": LINES[:1], "options": options}]
    )
    assert refused["error"] == "EngineError" and message in refused["message"]
