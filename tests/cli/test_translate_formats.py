"""pocketmt translate: TSV, JSON lines and TMX, which are written back with the translations added."""

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pocketmt.cli.main import run

from .conftest import SOURCES, Run, command_line, write_random_model

LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


@pytest.fixture
def translations(pocketmt: Run, random_model: Path, text: Path) -> list[str]:
    return pocketmt("translate", "-m", random_model, "-i", text).stdout.decode().split("\n")[:-1]


def memory(units: list[str]) -> str:
    body = "".join(f'<tu>\n  <tuv xml:lang="en"><seg>{unit}</seg></tuv>\n</tu>\n' for unit in units)
    return f'<tmx version="1.4">\n<header srclang="en"/>\n<body>\n{body}</body>\n</tmx>\n'


def test_tsv_has_the_translations_as_the_last_column(
    pocketmt: Run, random_model: Path, tmp_path: Path, translations: list[str]
) -> None:
    rows = [f"{number}\t{source}\tx" for number, source in enumerate(SOURCES)]
    path = tmp_path / "text.tsv"
    path.write_text("\n".join(rows))
    expected = "".join(f"{row}\t{each}\n" for row, each in zip(rows, translations, strict=True))
    answer = pocketmt("translate", "-m", random_model, "-i", path, "--column", "2")
    assert (answer.returncode, answer.stdout.decode(), answer.stderr) == (0, expected, b"")
    for column in ("english", "٢"):  # Only digits of ASCII are a column's number.
        heading = f"id\t{column}\tnote"
        arguments = ["--format", "tsv", "--column", column, "--translation-field", "german"]
        answer = pocketmt("translate", "-m", random_model, *arguments, stdin="\n".join([heading, *rows]).encode())
        assert answer.stdout.decode() == f"{heading}\tgerman\n{expected}"


def test_json_lines_have_the_translations_as_a_field(
    pocketmt: Run, random_model: Path, tmp_path: Path, translations: list[str]
) -> None:
    path, output = tmp_path / "text.jsonl", tmp_path / "out.jsonl"
    records = [{"id": number, "en": source} for number, source in enumerate(SOURCES)]
    records.append({"id": 99, "en": f"{SOURCES[0]}\n\n{SOURCES[1]}"})
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    answer = pocketmt("translate", "-m", random_model, "-i", path, "-o", output, "--field", "en")
    assert answer.returncode == 0, answer.stderr
    found = [json.loads(line) for line in output.read_text().splitlines()]
    expected = [*translations, f"{translations[0]}\n\n{translations[1]}"]
    assert found == [{**record, "translation": each} for record, each in zip(records, expected, strict=True)]


def test_json_lines_keep_their_line_ends(
    pocketmt: Run, random_model: Path, tmp_path: Path, translations: list[str]
) -> None:
    ends = ["\r\n", "\n", "\r\r\n\r\n", "\n\n", "\r"]
    record = {"text": "".join(source + end for source, end in zip(SOURCES, ends, strict=True))}
    answer = pocketmt("translate", "-m", random_model, "--format", "jsonl", stdin=json.dumps(record).encode())
    expected = "".join(each + end for each, end in zip(translations, ends, strict=True))
    assert json.loads(answer.stdout) == {**record, "translation": expected}


def test_tmx_has_the_translations_as_variants(
    pocketmt: Run, random_model: Path, tmp_path: Path, translations: list[str]
) -> None:
    path, output = tmp_path / "text.tmx", tmp_path / "out.tmx"
    path.write_text(memory(SOURCES))
    answer = pocketmt("translate", "-m", random_model, "-i", path, "-o", output)
    assert (answer.returncode, answer.stderr) == (0, b"")
    units = [
        {variant.get(LANGUAGE): variant.findtext("seg") for variant in unit.iter("tuv")}
        for unit in ElementTree.parse(output).iter("tu")
    ]
    assert units == [{"en": source, "de": each} for source, each in zip(SOURCES, translations, strict=True)]


def test_tmx_has_the_tag_of_the_standard(pocketmt: Run, random_model: Path, tmp_path: Path) -> None:
    path, output = tmp_path / "text.tmx", tmp_path / "out.tmx"
    path.write_text(memory(SOURCES[:1]))
    answer = pocketmt("translate", "-m", random_model, "-i", path, "-o", output, "--target-language", "deu_Latn")
    assert (answer.returncode, answer.stderr) == (0, b"")
    assert [each.get(LANGUAGE) for each in ElementTree.parse(output).iter("tuv")] == ["en", "de"]


def test_tmx_needs_both_languages(pocketmt: Run, tmp_path: Path) -> None:
    model, path, output = tmp_path / "model", tmp_path / "text.tmx", tmp_path / "out.tmx"
    write_random_model(model, "uniform8", seed=1, source_language="", target_language="")
    path.write_text(memory(SOURCES[:1]))
    source, target = ("--source-language", "en"), ("--target-language", "de")
    for options in ((), source, target):
        answer = pocketmt("translate", "-m", model, "-i", path, "-o", output, *options)
        assert answer.returncode == 1 and not output.exists()
        assert b"text.tmx: TMX names both languages" in answer.stderr
        assert b"give --source-language and --target-language" in answer.stderr
    answer = pocketmt("translate", "-m", model, "-i", path, "-o", output, *source, *target)
    assert (answer.returncode, answer.stderr) == (0, b"")
    assert [each.get(LANGUAGE) for each in ElementTree.parse(output).iter("tuv")] == ["en", "de"]


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("a.tsv", "text\n...\n\n25 birds\n", 4),
        ("a.jsonl", '{"text": "...\\n..."}\n{"text": "25 birds"}\n', 2),
        ("a.tmx", memory(["...\n...", "25 birds"]), 8),
    ],
)
def test_warnings_name_the_line_of_the_file(
    pocketmt: Run, random_model: Path, tmp_path: Path, name: str, content: str, line: int
) -> None:
    (tmp_path / name).write_text(content)
    column = ["--column", "text"] if name == "a.tsv" else []
    answer = pocketmt("translate", "-m", random_model, "-i", tmp_path / name, *column)
    assert answer.returncode == 0
    (warning,) = answer.stderr.decode().splitlines()
    assert warning.startswith(f"warning: {tmp_path / name}, line {line}: ") and "lacks 25" in warning


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tsv", "a bird\nx", "a.tsv, line 1: 1 column, expected at least 2, separated by tabs"),
        ("a.jsonl", '{"text": "a bird"}\n{"txt": ""}\n', "a.jsonl, line 2: there is no field 'text' (fields: 'txt')"),
        ("a.tmx", memory(["a"]).replace("</tu>", "", 1), "a.tmx, line 7: not well-formed XML (mismatched tag)"),
        ("a.tmx", memory(["a"]).replace('"en"', '"fr"'), "a.tmx: no unit has text in en"),
    ],
)
def test_malformed_input_is_an_error_that_leaves_no_output(
    pocketmt: Run, random_model: Path, tmp_path: Path, name: str, content: str, message: str
) -> None:
    (tmp_path / name).write_text(content)
    column = ["--column", "2"] if name == "a.tsv" else []
    answer = pocketmt("translate", "-m", random_model, "-i", tmp_path / name, "-o", tmp_path / "out", *column)
    assert answer.returncode == 1
    assert message in answer.stderr.decode()
    assert b"Traceback" not in answer.stderr
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--column", "2"],
        ["--format", "tsv", "--column", "0"],
        ["--format", "tsv", "--column", "1", "--translation-field", "a"],
        ["--format", "tsv", "--translation-field", "a"],
        ["--format", "jsonl", "--column", "2"],
        ["--format", "tmx", "--field", "a"],
        ["--format", "tmx", "--translation-field", "a"],
        ["--format", "jsonl", "--n-best", "2"],
        ["--format", "tsv", "--scores"],
        ["--format", "tmx", "--json"],
        ["--format", "docx"],
    ],
)
def test_options_of_other_formats_are_usage_errors(pocketmt: Run, random_model: Path, arguments: list[str]) -> None:
    assert pocketmt("translate", "-m", random_model, *arguments).returncode == 2


def test_records_of_a_pipe_are_answered_as_they_arrive(random_model: Path) -> None:
    command = command_line("translate", "-m", str(random_model), "--format", "tsv")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        for source in SOURCES:
            process.stdin.write(f"{source}\tx\n".encode())
            process.stdin.flush()
            assert process.stdout.readline().startswith(f"{source}\tx\t".encode())
        process.stdin.close()
        assert process.wait(60) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--format", "jsonl", "--translation-field", b"b\xff"], "has bytes that are no characters"),
        (["--format", "tsv", "--column", "en", "--translation-field", b"b\xff"], "has bytes that are no characters"),
        (["--format", "tsv", "--column", "en", "--translation-field", "a\tb"], "leave out tabs and line breaks"),
        (["--format", "tsv", "--column", "en", "--translation-field", "a\nb"], "leave out tabs and line breaks"),
        (["--format", "tsv", "--column", "en", "--translation-field", "b\r"], "leave out tabs and line breaks"),
    ],
)
def test_a_name_that_a_file_cannot_hold_is_a_usage_error(
    capsys: pytest.CaptureFixture[str], options: list[str | bytes], message: str
) -> None:
    assert run(["translate", *map(os.fsdecode, options)]) == 2
    assert message in capsys.readouterr().err


MEASURED = """
import sys
from pocketmt.cli.main import run
from pocketmt.evaluation.records import peak_memory_bytes
status = run(sys.argv[1:])
print(peak_memory_bytes())
sys.exit(status)
"""


@pytest.mark.parametrize("format", ["tsv", "jsonl", "tmx"])
def test_memory_does_not_grow_with_the_file(pocketmt: Run, random_model: Path, tmp_path: Path, format: str) -> None:
    # Half of a record is not translated, so that megabytes pass in a short time.
    other = "x" * 10_000
    record = {
        "tsv": f"a bird\t{other}\n",
        "jsonl": json.dumps({"text": "a bird", "other": other}) + "\n",
        "tmx": f'<tu><note>{other}</note><tuv xml:lang="en"><seg>a bird</seg></tuv></tu>\n',
    }[format]
    peaks = []
    for count in (1000, 5000):
        path = tmp_path / f"{count}.{format}"
        with path.open("w") as file:
            file.write("<tmx><body>\n" if format == "tmx" else "")
            for _ in range(count):
                file.write(record)
            file.write("</body></tmx>\n" if format == "tmx" else "")
        output = tmp_path / f"out.{format}"
        arguments = ["translate", "-m", str(random_model), "-b", "1", "-i", str(path), "-o", str(output)]
        answer = subprocess.run(
            [sys.executable, "-c", MEASURED, *arguments],
            capture_output=True,
            text=True,
            check=True,
        )
        peaks.append(int(answer.stdout))
        assert output.stat().st_size > path.stat().st_size
    # The longer file is 40 MB longer than the shorter one.
    assert peaks[1] - peaks[0] < 15_000_000
