"""pocketmt translate: one output line for each input line, and no incomplete files."""

import gzip
import json
import os
import random
import shlex
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from pocketmt.engine import Translator

from .conftest import SOURCES, Run, command_line

HOSTILE = [
    b"",
    b" ",
    b"a red house",
    b"\x00",
    b"a\x00red\x00house",
    b"\t\x0b\x0c\x1b[2J\x1c\x1d\x1e\x85\x7f",
    "\u0085\u2028\u2029\ufeff\u200b\u202e".encode(),
    b"\xff\xfe\xfd",
    b"caf\xe9",
    "house 🏠 дом 家 \u200fבית".encode(),
    "e\u0301".encode() * 500,
    b"\r",
    b"a\rb",
    b"\xed\xa0\x80",  # A lone surrogate.
    b" ".join([b"house"] * 10_000),
    b"x" * 20_000,
    b"<s></s><unk><pad>",
    "▁a▁b".encode(),
]


def test_each_hostile_line_gives_one_output_line(pocketmt: Run, random_model: Path) -> None:
    answer = pocketmt("translate", "-m", random_model, "-b", "1", stdin=b"\n".join(HOSTILE) + b"\n")
    assert answer.returncode == 0, answer.stderr
    answer.stdout.decode("utf-8")
    lines = answer.stdout.split(b"\n")
    assert len(lines) == len(HOSTILE) + 1
    assert lines[-1] == b""
    assert lines[0] == lines[1] == b""
    assert all(lines[index] for index, line in enumerate(HOSTILE) if line.isalnum())
    assert b"\r" not in answer.stdout


def test_translations_do_not_depend_on_hostile_neighbours(pocketmt: Run, random_model: Path) -> None:
    alone = pocketmt("translate", "-m", random_model, stdin="\n".join(SOURCES).encode())
    lines = [line for source in SOURCES for line in (source.encode(), b"\xff\x00 house " * 50)]
    among = pocketmt("translate", "-m", random_model, stdin=b"\n".join(lines))
    assert among.stdout.split(b"\n")[:-1:2] == alone.stdout.split(b"\n")[:-1]


def test_random_bytes_are_translated(pocketmt: Run, random_model: Path) -> None:
    noise = random.Random(5).randbytes(20_000)
    answer = pocketmt("translate", "-m", random_model, "-b", "1", stdin=noise)
    assert answer.returncode == 0
    assert answer.stdout.count(b"\n") == noise.count(b"\n") + (not noise.endswith(b"\n"))
    answer.stdout.decode("utf-8")


def test_a_warning_names_the_first_line_of_invalid_utf_8(pocketmt: Run, random_model: Path) -> None:
    answer = pocketmt("translate", "-m", random_model, stdin=b"a bird\nhouse \xff\na bird\n\xfe\n")
    assert answer.returncode == 0
    warnings = answer.stderr.decode().splitlines()
    assert len(warnings) == 2
    assert warnings[0].startswith("warning: stdin, line 2: not UTF-8")
    assert warnings[1] == "warning: stdin: 2 lines were not UTF-8"


def test_a_replaced_byte_is_translated_as_the_replacement_character(pocketmt: Run, random_model: Path) -> None:
    broken = pocketmt("translate", "-m", random_model, stdin=b"a \xff house\n")
    replaced = pocketmt("translate", "-m", random_model, stdin="a \ufffd house\n".encode())
    assert broken.stdout == replaced.stdout
    assert replaced.stderr == b""


@pytest.mark.parametrize("stdin", [b"a bird\r\na red house\r\n", b"a bird\na red house", b"a bird\na red house\n"])
def test_all_line_ends_are_read_and_line_feeds_are_written(pocketmt: Run, random_model: Path, stdin: bytes) -> None:
    expected = [pocketmt("translate", "-m", random_model, stdin=line).stdout for line in (b"a bird", b"a red house")]
    assert pocketmt("translate", "-m", random_model, stdin=stdin).stdout == b"".join(expected)


def test_no_input_gives_no_output(pocketmt: Run, random_model: Path) -> None:
    answer = pocketmt("translate", "-m", random_model)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, b"", b"")


@pytest.mark.parametrize("options", [["--workers", "3"], ["--instruction-set", "portable"]])
def test_translations_do_not_depend_on_workers_and_kernels(
    pocketmt: Run, random_model: Path, text: Path, options: list[str]
) -> None:
    plain = pocketmt("translate", "-m", random_model, "-i", text)
    assert plain.stdout.count(b"\n") == len(SOURCES)
    assert pocketmt("translate", "-m", random_model, "-i", text, *options).stdout == plain.stdout


def test_n_best_translations_share_a_line_best_first(pocketmt: Run, random_model: Path, text: Path) -> None:
    best = pocketmt("translate", "-m", random_model, "-i", text).stdout.decode().split("\n")
    plain = pocketmt("translate", "-m", random_model, "-i", text, "-n", "3").stdout.decode().split("\n")
    scored = pocketmt("translate", "-m", random_model, "-i", text, "-n", "3", "--scores").stdout.decode().split("\n")
    as_json = pocketmt("translate", "-m", random_model, "-i", text, "-n", "3", "--json").stdout.decode().split("\n")
    assert len(plain) == len(scored) == len(as_json) == len(SOURCES) + 1
    for index in range(len(SOURCES)):
        cells = scored[index].split("\t")
        scores, texts = [float(score) for score in cells[::2]], cells[1::2]
        assert len(texts) == 3
        assert texts[0] == best[index]
        assert plain[index].split("\t") == texts
        assert scores == sorted(scores, reverse=True)
        assert max(scores) <= 0
        assert [each["text"] for each in json.loads(as_json[index])["translations"]] == texts


def test_more_translations_than_the_beam_size_are_a_usage_error(pocketmt: Run, random_model: Path) -> None:
    answer = pocketmt("translate", "-m", random_model, "-n", "5")
    assert answer.returncode == 2
    assert b"--beam-size 5" in answer.stderr


def test_a_file_receives_the_same_output_as_stdout(pocketmt: Run, random_model: Path, text: Path) -> None:
    output = text.with_name("out.de")
    answer = pocketmt("translate", "-m", random_model, "-i", text, "-o", output)
    assert (answer.returncode, answer.stdout) == (0, b"")
    assert output.read_bytes() == pocketmt("translate", "-m", random_model, "-i", text).stdout
    assert sorted(os.listdir(text.parent)) == ["out.de", "source.en"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", "missing.pocketmt"], "missing.pocketmt"),
        (["-m", "no-such-name"], "no-such-name"),
        (["-m", "/dev/null"], "/dev/null"),
        (["-i", "missing.en"], "missing.en: No such file"),
        (["-i", "/"], "Is a directory"),
        (["-o", "missing/folder/out.de"], "folder missing/folder does not exist: create it first"),
        (["-o", "/"], "/ is a folder"),
    ],
)
def test_wrong_paths_are_named(pocketmt: Run, random_model: Path, arguments: list[str], message: str) -> None:
    answer = pocketmt("translate", "-m", random_model, *arguments, stdin=b"a bird\n")
    assert answer.returncode == 1
    assert answer.stdout == b""
    assert answer.stderr.decode().startswith("error: ")
    assert message in answer.stderr.decode()
    assert answer.stderr.count(b"\n") == 1


def test_more_workers_than_the_engine_has_are_refused(pocketmt: Run, random_model: Path) -> None:
    answer = pocketmt("translate", "-m", random_model, "-w", "99999999999999999999", stdin=b"a bird\n")
    assert (answer.returncode, answer.stdout) == (2, b"")
    assert "'--workers' / '-w': 99999999999999999999 is not in the range 1<=x<=1024" in answer.stderr.decode()


@pytest.mark.parametrize("to_stdout", [True, False])
def test_a_full_disk_is_reported(random_model: Path, text: Path, to_stdout: bool) -> None:
    arguments = ["translate", "-m", str(random_model), "-i", str(text)]
    with open("/dev/full", "wb") as full:
        answer = subprocess.run(
            command_line(*arguments, *([] if to_stdout else ["-o", "/dev/full"])),
            stdout=full if to_stdout else subprocess.PIPE,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert answer.returncode == 1
    assert answer.stderr.decode().startswith("error: ")
    assert "the disk is full" in answer.stderr.decode()
    assert answer.stderr.count(b"\n") == 1


def test_gzip_files_are_read_and_written(pocketmt: Run, random_model: Path, text: Path) -> None:
    plain = pocketmt("translate", "-m", random_model, "-i", text).stdout
    packed, output = text.with_name("source.en.gz"), text.with_name("out.de.gz")
    packed.write_bytes(gzip.compress(text.read_bytes()))
    written = []
    for _ in range(2):
        answer = pocketmt("translate", "-m", random_model, "-i", packed, "-o", output)
        assert answer.returncode == 0, answer.stderr
        written.append(output.read_bytes())
    assert gzip.decompress(written[0]) == plain
    assert written[0] == written[1]  # The file holds neither a time nor a temporary name.
    packed.write_bytes(gzip.compress(text.read_bytes())[:-9])
    answer = pocketmt("translate", "-m", random_model, "-i", packed, "-o", output)
    assert answer.returncode == 1
    assert b"source.en.gz: broken gzip" in answer.stderr
    assert output.read_bytes() == written[0]


def test_a_byte_order_mark_is_ignored(pocketmt: Run, random_model: Path) -> None:
    plain = pocketmt("translate", "-m", random_model, stdin=b"a bird\n")
    assert pocketmt("translate", "-m", random_model, stdin=b"\xef\xbb\xbfa bird\n").stdout == plain.stdout


def test_a_failed_write_leaves_only_the_old_file(pocketmt: Run, random_model: Path, text: Path) -> None:
    output = text.with_name("out.de")
    output.write_text("the old file")
    answer = pocketmt("translate", "-m", random_model, "-i", text, "-o", output, largest_file=10)
    assert answer.returncode == 1
    assert b"the file is larger than the disk or a limit" in answer.stderr
    assert output.read_text() == "the old file"
    assert sorted(os.listdir(text.parent)) == ["out.de", "source.en"]


def test_translations_are_written_before_the_input_ends(random_model: Path) -> None:
    with subprocess.Popen(
        command_line("translate", "-m", random_model, "-b", "1"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"a bird\n" * 5000)
        process.stdin.flush()
        first = [process.stdout.readline() for _ in range(1000)]
        assert len(set(first)) == 1
        process.stdin.write(b"a red house\n")
        process.stdin.close()
        rest = process.stdout.readlines()
        assert len(rest) == 4001
        assert process.wait() == 0


@pytest.mark.parametrize("options", [[], ["-w", "2"], ["-n", "2"], ["--json"]])
def test_each_line_of_a_pipe_is_translated_at_once(random_model: Path, options: list[str]) -> None:
    command = command_line("translate", "-m", random_model, "-b", "2", *options)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        hung = threading.Timer(60, process.kill)
        hung.start()
        for source in [*SOURCES[:3], ""]:
            process.stdin.write(f"{source}\n".encode())
            process.stdin.flush()
            assert process.stdout.readline().endswith(b"\n")
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait() == 0
        hung.cancel()


@pytest.mark.parametrize(("closed", "advice"), [("stdin", "--input"), ("stdout", "--output")])
def test_a_closed_stream_is_reported(random_model: Path, closed: str, advice: str) -> None:
    redirection = {"stdin": "<&-", "stdout": ">&-"}[closed]
    command = shlex.join(command_line("translate", "-m", random_model))
    answer = subprocess.run(["sh", "-c", f"{command} {redirection}"], input=b"", stderr=subprocess.PIPE, check=False)
    assert answer.returncode == 1
    message = answer.stderr.decode()
    assert message.startswith(f"error: {closed} is closed")
    assert advice in message
    assert message.count("\n") == 1


def test_an_error_with_stderr_closed_does_not_reach_stdout(random_model: Path) -> None:
    command = shlex.join(command_line("translate", "-m", random_model, "-i", "missing.en"))
    answer = subprocess.run(["sh", "-c", f"{command} 2>&-"], stdout=subprocess.PIPE, check=False)
    assert (answer.returncode, answer.stdout) == (1, b"")


def test_a_closed_output_pipe_ends_the_command_quietly(random_model: Path, tmp_path: Path) -> None:
    source = tmp_path / "long.en"
    source.write_bytes(b"a bird\n" * 20_000)
    with subprocess.Popen(
        command_line("translate", "-m", random_model, "-b", "1", "--no-check", "-i", source),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() != 0


@pytest.mark.parametrize(
    ("sent", "workers", "status", "expected"),
    [
        (signal.SIGINT, "1", 130, "interrupted"),
        (signal.SIGINT, "2", 130, "interrupted"),
        (signal.SIGTERM, "1", 143, ""),
    ],
)
def test_an_interrupted_translation_leaves_no_output(
    random_model: Path, tmp_path: Path, sent: signal.Signals, workers: str, status: int, expected: str
) -> None:
    source, output = tmp_path / "long.en", tmp_path / "out.de"
    source.write_bytes(b"the green tree and a bird\n" * 200_000)
    command = command_line("translate", "-m", random_model, "-i", source, "-o", output, "-b", "16", "-w", workers)
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    while not list(tmp_path.glob(".out.de.*")):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(sent)
    _, message = process.communicate(timeout=20)
    assert process.returncode == status
    assert message.decode().strip() == expected
    assert os.listdir(tmp_path) == ["long.en"]


def test_sentences_of_a_line_are_translated_one_by_one(pocketmt: Run, random_model: Path) -> None:
    alone = pocketmt("translate", "-m", random_model, stdin=b"A bird.\nThe tree.\n").stdout.decode().split("\n")
    line = b" A bird.\t The tree.  \n\n"
    assert pocketmt("translate", "-m", random_model, stdin=line).stdout.decode() == f" {alone[0]}\t {alone[1]}  \n\n"
    columns = (
        pocketmt("translate", "-m", random_model, "-n", "2", stdin=line).stdout.decode().split("\n")[0].split("\t")
    )
    assert len(columns) == 2  # A tab between sentences is no column.
    whole = pocketmt("translate", "-m", random_model, "--no-split", stdin=line)
    assert whole.returncode == 0
    assert whole.stdout.decode().strip() != f"{alone[0]}\t {alone[1]}"


def test_warnings_name_lines_that_may_lack_text(pocketmt: Run, random_model: Path) -> None:
    lines = b"a bird\nhttp://a.b/c\nsee 25 birds\n" + b"see 30 birds\n" * 20
    answer = pocketmt("translate", "-m", random_model, stdin=lines)
    assert answer.returncode == 0
    assert answer.stdout.split(b"\n")[1] == b"http://a.b/c"
    messages = answer.stderr.decode().splitlines()
    assert len(messages) == 11
    assert messages[0].startswith("warning: stdin, line 3: ")
    assert messages[0].endswith("the translation lacks 25")
    assert messages[-1] == "warning: stdin: 21 of 23 lines had such warnings"
    quiet = pocketmt("translate", "-m", random_model, "--no-check", stdin=lines)
    assert (quiet.stdout, quiet.stderr) == (answer.stdout, b"")
    columns = pocketmt("translate", "-m", random_model, "--scores", stdin=lines)
    assert columns.stderr == answer.stderr


def test_long_input_is_bounded(pocketmt: Run, random_model: Path) -> None:
    long = b"word " * 20_000
    answer = pocketmt("translate", "-m", random_model, stdin=long + b"\n" + b"x" * 200_000 + b"\na bird\n")
    assert answer.returncode == 0
    assert answer.stdout.split(b"\n")[:2] == [long, b"x" * 200_000]
    assert answer.stderr.count(b"\n") == 2
    assert b"stdin, line 1: text was copied, not translated: a sentence has 99,999 characters" in answer.stderr
    short = pocketmt("translate", "-m", random_model, "--longest-sentence", "5", stdin=b"a bird\n")
    assert short.stdout == b"a bird\n"
    assert b"the limit is 5 (--longest-sentence)\n" in short.stderr


def test_a_binary_file_is_bounded(pocketmt: Run, random_model: Path) -> None:
    noise = random.Random(6).randbytes(1_000_000)
    answer = pocketmt("translate", "-m", random_model, stdin=noise)
    assert answer.returncode == 0
    assert answer.stdout.count(b"\n") == noise.count(b"\n") + (not noise.endswith(b"\n"))
    assert answer.stderr.count(b"\n") < 20


def test_several_models_translate_together(pocketmt: Run, random_model: Path, another_model: Path) -> None:
    def translated(*models: Path) -> bytes:
        options = (part for model in models for part in ("--model", model))
        answer = pocketmt("translate", *options, stdin="\n".join(SOURCES).encode())
        assert answer.returncode == 0, answer.stderr
        return answer.stdout

    together = translated(random_model, another_model)
    assert together.count(b"\n") == len(SOURCES)
    assert together == Translator([random_model, another_model]).translate_text("\n".join(SOURCES) + "\n").encode()
    assert together not in (translated(random_model), translated(another_model))


def test_models_of_other_vocabularies_are_refused(pocketmt: Run, random_model: Path) -> None:
    answer = pocketmt("translate", "-m", "everyday-en-de", "-m", random_model, stdin=b"a red house\n")
    assert (answer.returncode, answer.stdout) == (1, b"")
    assert b"its vocabulary is not that of" in answer.stderr


@pytest.mark.parametrize(
    ("second", "options", "message"),
    [
        ("same", [], "is given twice: an ensemble needs different models"),
        ("another", ["--shortlist"], "--shortlist needs one model: an ensemble has no shortlist"),
    ],
)
def test_an_ensemble_that_makes_no_sense_is_a_usage_error(
    pocketmt: Run, random_model: Path, another_model: Path, second: str, options: list[str], message: str
) -> None:
    other = random_model if second == "same" else another_model
    answer = pocketmt("translate", "-m", random_model, "-m", other, *options, stdin=b"a bird\n")
    assert (answer.returncode, answer.stdout) == (2, b"")
    assert message in answer.stderr.decode()
