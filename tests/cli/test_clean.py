"""pocketmt clean: each rule, and files that cannot be cleaned."""

import gzip
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.ray_faults import descendants
from pocketmt.cli.main import run
from pocketmt.cores import available_cores
from pocketmt.folder_lock import LockedError, locked
from pocketmt.interop.importing import write_foreign
from pocketmt.model_file import open_model
from pocketmt.text.cleaning import Cleaning, Rules, Verdict
from tests.interop import models as foreign

from .conftest import Run, command_line

GOOD = [
    ("A man rides a red bike.", "Ein Mann fährt ein rotes Fahrrad."),
    ("Two dogs are playing in the snow.", "Zwei Hunde spielen im Schnee."),
    ("The woman is reading a book in the park.", "Die Frau liest im Park ein Buch."),
]
BAD = [
    ("", "Nichts."),
    ("Hello", "Das ist doch viel länger als was gesagt wurde , und zwar um so einiges ."),
    ("Berlin", "Berlin"),
    ("A house in the green hills", "A house in the hills"),
    ("12 34 % 56", "12 , 34"),
    ("The people are walking home.", "die die die die die Leute"),
    ("Children play with a yellow ball.", "Les enfants jouent avec un ballon jaune."),
    GOOD[0],
]


def write(folder: Path, pairs: list[tuple[str, str]]) -> tuple[Path, Path]:
    for name, lines in (("text.en", [pair[0] for pair in pairs]), ("text.de", [pair[1] for pair in pairs])):
        (folder / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return folder / "text.en", folder / "text.de"


def read(folder: Path) -> list[tuple[str, str]]:
    sides = [(folder / name).read_text(encoding="utf-8").splitlines() for name in ("clean.en", "clean.de")]
    return list(zip(*sides, strict=True))


def test_each_rule_removes_its_line_and_the_table_counts_it(pocketmt: Run, tmp_path: Path) -> None:
    files = write(tmp_path, [*GOOD, *BAD])
    answer = pocketmt("clean", *files, "-o", tmp_path / "clean.en", tmp_path / "clean.de", "--languages", "en", "de")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == b""
    assert read(tmp_path) == GOOD
    rows = [line.rsplit(maxsplit=2) for line in answer.stderr.decode().splitlines()[2:]]
    rules = ["empty", "too long", "ratio", "identical", "copied", "repetition", "letters", "language", "duplicate"]
    assert [what for what, *_ in rows][: len(rules)] == rules
    assert {what: pairs for what, pairs, _ in rows} == {
        **dict.fromkeys(["empty", "ratio", "identical", "copied", "letters", "repetition", "language"], "1"),
        "too long": "0",
        "duplicate": "1",
        "improbable": "0",  # 5 % of three lines, rounded down.
        "kept": "3",
        "read": "11",
    }
    assert sorted(os.listdir(tmp_path)) == ["clean.de", "clean.en", "text.de", "text.en"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--minimum-letters", "0.2"], "--minimum-letters needs --languages"),
        (["--minimum-language-probability", "0"], "--minimum-language-probability needs --languages"),
        (["--improbable", "0", "--written-by-model", "source"], "--written-by-model has no effect with --improbable 0"),
        (["--improbable", "0", "--language-model-text", "x.de"], "--language-model-text has no effect"),
    ],
)
def test_options_without_effect_are_usage_errors(
    pocketmt: Run, tmp_path: Path, arguments: list[str], message: str
) -> None:
    files = write(tmp_path, GOOD)
    answer = pocketmt("clean", *files, "-o", tmp_path / "clean.en", tmp_path / "clean.de", *arguments)
    assert answer.returncode == 2
    assert message in answer.stderr.decode()


def test_disabled_rules_have_no_count(pocketmt: Run, tmp_path: Path) -> None:
    files = write(tmp_path, [*GOOD, *BAD])
    outputs = tmp_path / "clean.en", tmp_path / "clean.de"
    answer = pocketmt("clean", *files, "-o", *outputs, "--improbable", "0", "--maximum-copied", "1")
    disabled = [line.split()[0] for line in answer.stderr.decode().splitlines() if line.endswith("-")]
    assert disabled[-3:] == ["letters", "language", "improbable"]
    kept = read(tmp_path)
    assert [BAD[index] in kept for index in range(7)] == [False, False, False, True, True, False, True]


def test_the_least_probable_lines_of_the_written_side_are_removed(pocketmt: Run, tmp_path: Path) -> None:
    pairs = [(f"the {noun} number {place}", f"Wort {place}") for place in range(20) for noun in ("cat", "dog")]
    pairs[7] = ("zyx wvu tsr", "Wort 3")
    pairs[22] = ("the dog number 3", "abc def ghi")
    files = write(tmp_path, pairs)
    for side, lost in (("source", 7), ("target", 22)):
        answer = pocketmt(
            *("clean", *files, "-o", tmp_path / "clean.en", tmp_path / "clean.de.gz"),
            *("--improbable", "0.025", "--written-by-model", side),
        )
        assert answer.returncode == 0, answer.stderr
        (tmp_path / "clean.de").write_bytes(gzip.decompress((tmp_path / "clean.de.gz").read_bytes()))
        assert read(tmp_path) == pairs[:lost] + pairs[lost + 1 :]


@pytest.mark.parametrize("kind", ["run", "run/vocabulary.model", "model.pocketmt"])
def test_the_pieces_of_a_vocabulary_count_as_words(
    pocketmt: Run, random_model: Path, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "run").mkdir()
    with open_model(random_model) as file:
        (tmp_path / "run" / "vocabulary.model").write_bytes(file.vocabularies().source.model)
    shutil.copy(random_model, tmp_path / "model.pocketmt")
    files = write(tmp_path, [*GOOD, ("zyxwvuts", "stuvwxyz"), ("a", "b")])
    options = ["--vocabulary", tmp_path / kind, "--maximum-length", "5", "--improbable", "0"]
    answer = pocketmt("clean", *files, "-o", tmp_path / "clean.en", tmp_path / "clean.de", *options)
    assert answer.returncode == 0, answer.stderr
    assert [line.split()[-2] for line in answer.stderr.decode().splitlines() if "too long" in line] == ["4"]
    assert read(tmp_path) == [("a", "b")]


@pytest.mark.parametrize("separate", [False, True])
def test_the_vocabulary_of_an_imported_model_is_refused_with_advice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], separate: bool
) -> None:
    files = write(tmp_path, GOOD)
    vocabularies = foreign.marian_vocabularies(separate)
    imported = tmp_path / "imported.pocketmt"
    write_foreign(foreign.random_model(foreign.marian_architecture(vocabularies), vocabularies), imported)
    options = ["-o", tmp_path / "clean.en", tmp_path / "clean.de", "--vocabulary", imported, "--improbable", "0"]
    assert run([str(each) for each in ("clean", *files, *options)]) == 1
    error = capsys.readouterr().err
    assert f"{imported}: --vocabulary takes one vocabulary for both languages" in error
    assert "give the folder of a run, a model file made from one, or a SentencePiece file" in error


def test_the_next_run_removes_what_a_killed_one_has_left(pocketmt: Run, tmp_path: Path) -> None:
    files = write(tmp_path, [(f"the cat number {place}", f"Wort {place}") for place in range(20)])
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    names = {process: f".cleaning-{socket.gethostname()}-{process}-x" for process in (ended.pid, os.getpid())}
    for name in (*names.values(), f".cleaning-elsewhere-{ended.pid}-x"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "source").touch()
    answer = pocketmt("clean", *files, "-o", tmp_path / "clean.en", tmp_path / "clean.de", "--improbable", "0.1")
    assert answer.returncode == 0, answer.stderr
    left = sorted(each.name for each in tmp_path.glob(".*"))
    assert left == sorted([names[os.getpid()], f".cleaning-elsewhere-{ended.pid}-x"])


@pytest.mark.skipif(available_cores() == 1, reason="this process has one core, so clean starts no other process")
@pytest.mark.parametrize(
    ("number", "message"), [(signal.SIGINT, b"interrupted\n"), (signal.SIGTERM, b""), (signal.SIGHUP, b"")]
)
def test_a_signal_ends_all_processes_and_leaves_no_file(tmp_path: Path, number: signal.Signals, message: bytes) -> None:
    files = write(tmp_path, [(f"the cat number {place}", f"die Katze {place}") for place in range(100_000)])
    command = command_line("clean", *files, "-o", tmp_path / "clean.en", tmp_path / "clean.de")
    process = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
    while not (others := descendants(process.pid)):
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, number)
    _, shown = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert shown.lstrip() == message
    assert sorted(os.listdir(tmp_path)) == ["text.de", "text.en"]
    assert not any(Path(f"/proc/{other}").exists() for other in others)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ("cut", [], "text.de has 2:"),
        ("missing", [], "text.de: cannot be read"),
        ("latin1", [], "text.de, line 1: not UTF-8"),
        ("", ["--languages", "en", "qq"], "'qq'"),
        ("", ["-o", "out", "out"], "name two files"),
        ("", ["-o", "missing/a", "missing/b"], "folder missing does not exist"),
        ("", ["-o", ".", "b"], ". is a folder"),
        ("", ["--vocabulary", "text.en"], "text.en: not a SentencePiece model"),
        ("", ["--language-model-text", "missing.de"], "missing.de: cannot be read"),
        ("", ["--language-model-text", "blank.de"], "blank.de: there is no text to train a language model on"),
        ("", ["--language-model-text", "/dev/null"], "/dev/null is not a regular file"),
    ],
)
def test_an_error_leaves_all_files_unchanged(
    pocketmt: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, GOOD)
    (tmp_path / "clean.en").write_text("old\n")
    (tmp_path / "blank.de").write_text("\n \n")
    target = tmp_path / "text.de"
    if change == "cut":
        target.write_text("".join(pair[1] + "\n" for pair in GOOD[:2]))
    elif change == "missing":
        target.unlink()
    elif change == "latin1":
        target.write_bytes(target.read_text(encoding="utf-8").encode("latin-1"))
    before = sorted(os.listdir(tmp_path))
    answer = pocketmt(
        "clean", "text.en", "text.de", *(["-o", "clean.en", "clean.de"] if "-o" not in options else []), *options
    )
    assert answer.returncode == 1
    assert answer.stderr.decode().startswith("error: ") and message in answer.stderr.decode()
    assert sorted(os.listdir(tmp_path)) == before
    assert (tmp_path / "clean.en").read_text() == "old\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "out.tsv", "out.de"], "out.tsv: plain text is written"),
        (["-o", "out", "out"], "name two files"),
        (["-o", "out.en", "missing/out.de"], "folder missing does not exist"),
        (["-o", "missing/out.en", "missing/out.de"], "folder missing does not exist"),
        (["-o", "out.en", "out.de", "--language-model-text", "blank.de"], "there is no text to train a language model"),
        (["-o", "out.en", "out.de", "--vocabulary", "text.en"], "text.en: not a SentencePiece model"),
    ],
)
def test_an_error_comes_before_the_work_of_the_cluster(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pocketmt.text.clean_on_cluster.judge_on_cluster", None)
    write(tmp_path, GOOD)
    (tmp_path / "blank.de").write_text("\n \n")
    before = sorted(os.listdir(tmp_path))
    assert run(["clean", "text.en", "text.de", "--ray", "auto", *options]) == 1
    assert message in capsys.readouterr().err
    assert sorted(os.listdir(tmp_path)) == before


def test_files_of_the_user_are_not_taken_for_work_of_the_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pocketmt.text.clean_on_cluster.judge_on_cluster", None)
    files, work = write(tmp_path, GOOD), tmp_path / "clean.en.cleaning"
    work.mkdir()
    (work / "notes").write_text("mine")
    (work / ".settings.json.0a1b2c3d.unfinished").touch()
    command = ["clean", *map(str, files), "-o", str(tmp_path / "clean.en"), str(tmp_path / "clean.de"), "--ray", "auto"]
    assert run(command) == 1
    assert f"{work} holds notes but no settings.json" in capsys.readouterr().err
    assert (work / "notes").read_text() == "mine"


def test_the_work_of_the_cluster_is_locked_until_it_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, work = write(tmp_path, GOOD), tmp_path / "clean.en.cleaning"

    def judge(*arguments: object, **settings: object) -> Iterator[Verdict]:
        (work / "records").mkdir()
        for name in ("settings.json", "000000.verdicts", ".000001.verdicts.0a1b2c3d.unfinished", "records/0", "notes"):
            (work / name).touch()
        for pair in GOOD:
            with pytest.raises(LockedError), locked(work):
                pass
            yield Rules(Cleaning()).judge(pair)

    monkeypatch.setattr("pocketmt.text.clean_on_cluster.judge_on_cluster", judge)
    command = ["clean", *map(str, files), "-o", str(tmp_path / "clean.en"), str(tmp_path / "clean.de"), "--ray", "auto"]
    assert run(command) == 0
    assert read(tmp_path) == GOOD
    assert os.listdir(work) == ["notes"]


@pytest.mark.parametrize("pipes", [(0,), (1,), (0, 1)])
def test_pipes_are_written_with_work_elsewhere(tmp_path: Path, pipes: tuple[int, ...]) -> None:
    files, ends = write(tmp_path, GOOD), {place: os.pipe() for place in pipes}
    paths = [tmp_path / "clean.en", tmp_path / "clean.de"]
    outputs = [f"/dev/fd/{ends[place][1]}" if place in ends else str(paths[place]) for place in (0, 1)]
    command = command_line("clean", *files, "-o", *outputs, "--improbable", "0")
    answer = subprocess.run(command, pass_fds=[end for _, end in ends.values()], capture_output=True, check=False)
    assert answer.returncode == 0, answer.stderr
    for place, (reading, writing) in ends.items():
        os.close(writing)
        with open(reading, "rb") as stream:
            paths[place].write_bytes(stream.read())
    assert read(tmp_path) == GOOD
    assert not list(tmp_path.glob(".*"))


def test_a_cluster_needs_an_output_that_is_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = write(tmp_path, GOOD)
    assert run(["clean", *map(str, files), "-o", "/dev/null", "/dev/stdout", "--ray", "auto"]) == 2
    assert "name a file as one of the outputs" in " ".join(capsys.readouterr().err.split())


def test_a_missing_extra_is_reported_with_its_installation(pocketmt: Run, tmp_path: Path) -> None:
    (tmp_path / "py3langid").mkdir()
    failing = "raise ModuleNotFoundError(\"No module named 'py3langid'\", name='py3langid')"
    (tmp_path / "py3langid" / "__init__.py").write_text(failing)
    files = write(tmp_path, GOOD)
    outputs = tmp_path / "clean.en", tmp_path / "clean.de"
    environment = {"PYTHONPATH": str(tmp_path)}
    answer = pocketmt("clean", *files, "-o", *outputs, "--languages", "en", "de", environment=environment)
    assert answer.returncode == 1
    assert answer.stderr.decode() == "error: this command needs the package py3langid: pip install 'pocketmt[clean]'\n"
    without = ("--languages", "en", "de", "--minimum-language-probability", "0")
    assert pocketmt("clean", *files, "-o", *outputs, *without, environment=environment).returncode == 0


def test_rules_need_no_extra_packages(pocketmt: Run, tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise ModuleNotFoundError(\"No module named 'numpy'\", name='numpy')")
    files = write(tmp_path, GOOD)
    outputs = tmp_path / "clean.en", tmp_path / "clean.de"
    answer = pocketmt("clean", *files, "-o", *outputs, "--improbable", "0", environment={"PYTHONPATH": str(tmp_path)})
    assert answer.returncode == 0, answer.stderr
    assert read(tmp_path) == GOOD


def test_a_translation_memory_is_cleaned_into_two_files(pocketmt: Run, tmp_path: Path) -> None:
    units = (
        f'<tu><tuv xml:lang="de-DE"><seg>{german}</seg></tuv><tuv xml:lang="en-US"><seg>{english}</seg></tuv></tu>'
        for english, german in [*GOOD, *BAD]
    )
    (tmp_path / "text.tmx").write_text(f"<tmx><body>{''.join(units)}</body></tmx>", encoding="utf-8")
    outputs = tmp_path / "clean.en", tmp_path / "clean.de"
    answer = pocketmt("clean", tmp_path / "text.tmx", "-o", *outputs, "--languages", "en", "de")
    assert answer.returncode == 0, answer.stderr
    assert read(tmp_path) == GOOD


def test_a_language_that_cannot_be_identified_is_cleaned_without(pocketmt: Run, tmp_path: Path) -> None:
    files, outputs = write(tmp_path, GOOD), (tmp_path / "clean.en", tmp_path / "clean.de")
    command = ("clean", *files, "-o", *outputs, "--languages", "en", "nb")
    answer = pocketmt(*command)
    assert answer.returncode == 1 and not outputs[0].exists()
    assert b"'nb' cannot be identified: give --minimum-language-probability 0 to clean without" in answer.stderr
    answer = pocketmt(*command, "--minimum-language-probability", "0")
    assert answer.returncode == 0, answer.stderr
    assert read(tmp_path) == GOOD


def test_one_file_of_plain_text_is_a_usage_error(pocketmt: Run, tmp_path: Path) -> None:
    answer = pocketmt("clean", "text.en", "-o", tmp_path / "clean.en", tmp_path / "clean.de")
    assert answer.returncode == 2
    assert b"text.en is plain text: give TARGET too" in answer.stderr


def test_without_probable_pairs_nothing_is_written(pocketmt: Run, tmp_path: Path) -> None:
    answer = pocketmt(
        "clean", *write(tmp_path, GOOD), "-o", tmp_path / "clean.en", tmp_path / "clean.de", "--improbable", "1"
    )
    assert answer.returncode == 1
    assert b"no pair is left, so nothing is written (improbable 3)" in answer.stderr
    assert sorted(os.listdir(tmp_path)) == ["text.de", "text.en"]


@pytest.mark.parametrize("read", ["text.en", "text.de", "../{}/text.en", "link.en"])
def test_a_file_that_is_read_is_not_replaced(pocketmt: Run, tmp_path: Path, read: str) -> None:
    files = write(tmp_path, GOOD)
    (tmp_path / "link.en").symlink_to("text.en")
    before = [file.read_bytes() for file in files]
    answer = pocketmt("clean", *files, "-o", tmp_path / read.format(tmp_path.name), tmp_path / "clean.de")
    assert answer.returncode == 1
    assert b"is read, and would be replaced: name another file" in answer.stderr
    assert [file.read_bytes() for file in files] == before


@pytest.mark.parametrize("improbable", ["0", "0.05"])
def test_swapped_languages_are_an_error_that_leaves_no_files(pocketmt: Run, tmp_path: Path, improbable: str) -> None:
    files = write(tmp_path, GOOD)
    outputs = tmp_path / "clean.en", tmp_path / "clean.de"
    arguments = ["-o", *outputs, "--languages", "de", "en", "--improbable", improbable]
    answer = pocketmt("clean", *files, *arguments)
    assert answer.returncode == 1
    message = answer.stderr.decode()
    assert "no pair is left, so nothing is written (language 3)" in message and "--languages are not swapped" in message
    assert "turn off the rule 'language' by --minimum-language-probability 0\n" in message
    assert sorted(os.listdir(tmp_path)) == ["text.de", "text.en"]
