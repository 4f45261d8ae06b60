"""pocketmt compare: the page, the record and what is refused."""

import json
import math
import os
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pocketmt.cli.main import run as run_command
from pocketmt.engine import Translator
from pocketmt.model_file.report import inspect_model

from .conftest import SOURCES, Run, write_random_model


class Page(HTMLParser):
    """Checks that elements are closed in order, and collects text and attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def small(random_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The weights of `random_model` in 4 bits, and so other translations."""
    path = tmp_path_factory.mktemp("small") / "small.pocketmt"
    write_random_model(path, "logarithmic4", seed=1)
    return path


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of another target language."""
    path = tmp_path_factory.mktemp("other") / "other.pocketmt"
    write_random_model(path, "uniform8", seed=1, target_language="fr")
    return path


def record_of(pocketmt: Run, folder: Path, *arguments: object) -> tuple[dict[str, Any], str]:
    """Compare without speed; returns the record and stdout."""
    path = folder / "report.json"
    answer = pocketmt("compare", *map(str, arguments), "--json", path, "--no-speed")
    assert answer.returncode == 0, answer.stderr
    return json.loads(path.read_text(encoding="utf-8")), answer.stdout.decode()


def test_the_page_and_the_record(pocketmt: Run, random_model: Path, small: Path, text: Path, copied_text: Path) -> None:
    page, record_path = text.with_name("report.html"), text.with_name("report.json")
    answer = pocketmt(
        *("compare", random_model, small, "--text", text, "--reference", copied_text),
        *("--reference", copied_text, "-o", page, "--json", record_path, "--beam-size", "2"),
    )
    assert answer.returncode == 0, answer.stderr
    record = json.loads(record_path.read_text(encoding="utf-8"))
    report = inspect_model(small)
    sizes = record["small"]["sizes"]
    assert sizes["file_bytes"] == small.stat().st_size == sum(sizes["parts"].values())
    assert [each["name"] for each in sizes["matrices"]] == [each.name for each in report.matrices]
    assert sum(each["bytes"] for each in sizes["schemes"]) == report.matrix_bytes
    assert [each["name"] for each in record["differences"]] == ["BLEU", "chrF"]
    assert record["small"]["quality"]["lines"] == record["lines"] == 5
    for name in ("original", "small"):
        speed = record[name]["speed"]
        assert len(speed["words_per_second"]) == len(speed["milliseconds_per_line"]) == 3
        assert speed["peak_memory_bytes"] > 1e6
    translations = [Translator(each).translate(SOURCES, beam_size=2, check=False) for each in (random_model, small)]
    same = sum(ours == other for ours, other in zip(*translations, strict=True))
    assert record["outputs"]["identical"] == same / 5
    assert sorted(each["original"] for each in record["changed"]) == sorted(
        ours for ours, other in zip(*translations, strict=True) if ours != other
    )
    shown = Page(page.read_text(encoding="utf-8"))
    assert {"svg", "table", "style"} <= shown.tags
    assert not shown.tags & {"script", "link", "img", "iframe", "object", "base", "form"}
    assert all(f"{each['bytes']:,}" in shown.text for each in sizes["matrices"])
    assert f"{record['differences'][0]['system']:.2f}" in shown.text
    assert "times less" in answer.stdout.decode()
    assert b"measured speed 12 of 12 runs" in answer.stderr or b"measured speed" not in answer.stderr


def test_agreement_is_that_of_the_logits(pocketmt: Run, random_model: Path, small: Path, text: Path) -> None:
    record, _ = record_of(pocketmt, text.parent, random_model, small, "--text", text)
    original, other = Translator(random_model), Translator(small)
    same, divergences = [], []
    for line in SOURCES:
        source = original.encode(line)
        [target] = original.translate_ids([source])
        ours, its = (np.array(each.logits(source, target), dtype=np.float64) for each in (original, other))
        same += list(ours.argmax(axis=1) == its.argmax(axis=1))
        ours, its = (each - np.log(np.exp(each).sum(axis=1, keepdims=True)) for each in (ours, its))
        divergences += list((np.exp(ours) * (ours - its)).sum(axis=1))
    agreement = record["agreement"]
    assert (agreement["sentences"], agreement["tokens"]) == (5, len(same))
    assert agreement["same"] == pytest.approx(np.mean(same))
    assert agreement["divergence"] == pytest.approx(np.mean(divergences), rel=1e-4)
    assert agreement["divergence"] > 0
    groups = record["by_length"]
    assert [(each["lowest"], each["highest"], each["outputs"]["lines"]) for each in groups] == [(1, 5, 4), (6, 10, 1)]
    assert sum(each["agreement"]["tokens"] for each in groups) == len(same)
    assert (record["differences"], record["small"]["quality"], record["small"]["speed"]) == ([], None, None)


def test_a_larger_file_is_not_called_smaller(pocketmt: Run, random_model: Path, small: Path, text: Path) -> None:
    _, found = record_of(pocketmt, text.parent, small, random_model, "--text", text)
    assert found.startswith("The second model takes ")
    assert " times as much" in found
    assert "smaller" not in found
    assert " less" not in found


def test_a_model_agrees_with_itself(pocketmt: Run, random_model: Path, text: Path) -> None:
    page = text.with_name("report.html")
    record, _ = record_of(pocketmt, text.parent, random_model, random_model, "--text", text, "-o", page)
    assert record["agreement"]["same"] == record["outputs"]["identical"] == 1
    assert record["agreement"]["divergence"] == 0
    assert record["outputs"]["chrf"] == 100
    assert record["changed"] == []
    assert "None: all translations are the same." in Page(page.read_text(encoding="utf-8")).text


def test_other_vocabularies_have_no_common_pieces(pocketmt: Run, random_model: Path, text: Path) -> None:
    page = text.with_name("report.html")
    text.write_text("A man rides a bike.\n")
    record, _ = record_of(pocketmt, text.parent, "captions-en-de", random_model, "--text", text, "-o", page)
    assert record["agreement"] is None
    assert re.search(r"the vocabularies differ: [\d,]+ pieces and 60", record["no_agreement"])
    assert record["no_agreement"] in Page(page.read_text(encoding="utf-8")).text


def test_a_parallel_file_has_the_references(pocketmt: Run, random_model: Path, small: Path, text: Path) -> None:
    pairs = text.with_name("pairs.tsv")
    pairs.write_text("".join(f"{line}\t{line.upper()}\n" for line in SOURCES))
    record, _ = record_of(pocketmt, text.parent, random_model, small, "--text", pairs, "--lines", "3")
    assert (record["lines"], record["references"]) == (3, [str(pairs)])
    assert record["small"]["quality"]["lines"] == 3


HOSTILE = [
    "<script>alert(1)</script> red house",
    "</style></svg><img src=x onerror=alert(1)> bird",
    "a \"quote\" & 'another' &lt;b&gt; tree",
    "\u202eright to left\u2066 \x1b[31mred\x07",
    "<!-- red ]]> green",
]


def test_texts_and_names_cannot_add_to_the_page(pocketmt: Run, random_model: Path, small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "<b onclick='x'>&amp;"
    folder.mkdir()
    model = Path(shutil.copy(small, folder / '"><script>1.pocketmt'))
    text, reference, page = folder / "<i>.en", folder / "<u>.de", tmp_path / "report.html"
    text.write_text("\n".join(HOSTILE) + "\n")
    reference.write_text("\n".join(HOSTILE[::-1]) + "\n")
    arguments = [random_model, model, "--text", text, "--reference", reference, "-o", page]
    record, _ = record_of(pocketmt, tmp_path, *arguments)
    assert record["changed"]
    content = page.read_text(encoding="utf-8")
    shown = Page(content)
    plain = Page(_page_of_plain_text(pocketmt, random_model, small, tmp_path))
    assert shown.tags <= plain.tags | {"del", "ins"}
    assert {name for name, _ in shown.attributes} <= {name for name, _ in plain.attributes}
    assert not [value for name, value in shown.attributes if name in ("src", "href") or "http:" in str(value)]
    assert not set("\u202e\u2066\x1b\x07") & set(content)
    assert "default-src 'none'" in content
    for each in record["changed"]:
        shown_source = each["source"].encode("unicode_escape").decode() if "\x1b" in each["source"] else each["source"]
        assert shown_source.split()[0] in shown.text


def _page_of_plain_text(pocketmt: Run, model: Path, small: Path, folder: Path) -> str:
    text, reference, page = folder / "plain.en", folder / "plain.de", folder / "plain.html"
    for path in (text, reference):
        path.write_text("".join(f"{line}\n" for line in SOURCES))
    record_of(pocketmt, folder, model, small, "--text", text, "--reference", reference, "-o", page)
    return page.read_text(encoding="utf-8")


def test_numbers_of_the_record_are_finite(pocketmt: Run, random_model: Path, small: Path, text: Path) -> None:
    text.write_text("\n\na\n\n")
    record, _ = record_of(pocketmt, text.parent, random_model, small, "--text", text)

    def check(value: object) -> None:
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            for each in value:
                check(each)
        assert not isinstance(value, float) or math.isfinite(value)

    check(record)


def test_a_name_that_is_not_utf_8_is_written_with_a_question_mark(
    pocketmt: Run, random_model: Path, small: Path, text: Path
) -> None:
    named = text.rename(text.with_name(os.fsdecode(b"b\xff.en")))
    record, _ = record_of(pocketmt, text.parent, random_model, small, "--text", named)
    assert Path(record["text"]).name == "b?.en"


def test_lines_without_words_are_a_group(pocketmt: Run, random_model: Path, small: Path, text: Path) -> None:
    page = text.with_name("report.html")
    text.write_text("?!\n\n...\n")
    record, _ = record_of(pocketmt, text.parent, random_model, small, "--text", text, "-o", page)
    assert [(each["lowest"], each["highest"], each["outputs"]["lines"]) for each in record["by_length"]] == [(0, 0, 3)]
    assert Page(page.read_text(encoding="utf-8")).tags >= {"svg"}


@pytest.mark.parametrize("order", [1, -1])
def test_a_model_that_names_no_languages_is_compared_in_those_of_the_other(
    pocketmt: Run, random_model: Path, text: Path, tmp_path: Path, order: int
) -> None:
    nameless = tmp_path / "nameless.pocketmt"
    write_random_model(nameless, "uniform8", seed=1, source_language="", target_language="")
    record, _ = record_of(pocketmt, tmp_path, *[random_model, nameless][::order], "-t", text)
    assert (record["source_language"], record["target_language"]) == ("en", "de")
    assert record["outputs"]["identical"] == 1


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["missing.pocketmt", "{small}", "-t", "{text}"], 1, "missing.pocketmt: no such file"),
        (["{model}", "{text}", "-t", "{text}"], 1, "source.en"),
        (["{model}", "{small}", "-t", "missing.en"], 1, "missing.en: cannot be read"),
        (["{model}", "{small}", "-t", "{blank}"], 1, "blank.en has no text"),
        (["{model}", "{small}", "-t", "{text}", "-r", "{blank}"], 1, "must be parallel"),
        (["{model}", "{small}", "-t", "{text}", "-r", "{text}"], 1, "both sides"),
        (["{model}", "{small}", "-t", "/dev/null", "-r", "{text}", "-r", "{text}"], 1, "not a regular file"),
        (["{model}", "{other}", "-t", "{text}"], 1, "choose two of the same languages"),
        (["{model}", "{small}"], 2, "--text"),
        (["{model}", "{small}", "-t", "{text}", "-o", "{folder}/x", "--json", "{folder}/x"], 2, "name two"),
        (["{model}", "{small}", "-t", "{text}", "-o", "{folder}/no/x.html"], 1, "does not exist: create it first"),
        (["{model}", "{small}", "-t", "{text}", "--json", "{folder}"], 1, "is a folder"),
        (["{model}", "{small}", "-t", "{text}", "--lines", "0"], 2, "--lines"),
        (["{model}", "{model}", "-t", "{folder}/missing"], 1, "is compared with itself: every difference is zero"),
        (["{model}", "{small}", "-t", "{text}", "--beam-size", "0"], 2, "--beam-size"),
    ],
)
def test_what_is_refused(
    capsys: pytest.CaptureFixture[str],
    random_model: Path,
    small: Path,
    other: Path,
    text: Path,
    arguments: list[str],
    status: int,
    message: str,
) -> None:
    folder = text.parent
    (folder / "blank.en").write_text("\n \n")
    before = sorted(folder.iterdir())
    names = {"model": random_model, "small": small, "text": text, "folder": folder}
    names |= {"blank": folder / "blank.en", "other": other}
    assert run_command(["compare", *(each.format(**names) for each in arguments), "--no-speed"]) == status
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said
    assert sorted(folder.iterdir()) == before
