"""pocketmt shortlist: learning, copying and measuring shortlists."""

import json
from pathlib import Path

import pytest

from pocketmt.cli.main import run
from pocketmt.model_file import open_model
from pocketmt.packing.shortlist import learn_shortlist
from pocketmt.text.vocabulary import Vocabulary

from .conftest import SOURCES, Run


@pytest.fixture
def parallel(tmp_path: Path) -> tuple[Path, Path]:
    source, target = tmp_path / "train.en", tmp_path / "train.de"
    source.write_text("".join(f"{line}\n" for line in SOURCES * 4))
    # The vocabulary only has English pieces, so each "translation" is the source line twice.
    target.write_text("".join(f"{line} {line}\n" for line in SOURCES * 4))
    return source, target


@pytest.fixture
def faster(pocketmt: Run, random_model: Path, parallel: tuple[Path, Path], tmp_path: Path) -> Path:
    output = tmp_path / "faster.pocketmt"
    answer = pocketmt(
        *("shortlist", random_model, "--source", parallel[0], "--target", parallel[1]),
        *("--top-k", "1", "--frequent", "2", "-o", output),
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == b""
    before, after = random_model.stat().st_size, output.stat().st_size
    messages = answer.stderr.decode()
    assert after > before and f"{after:,} bytes, before {before:,}" in messages
    assert f"warning: {parallel[0]} has fewer than 10,000 sentence pairs (20): " in messages
    return output


def test_translations_consist_of_pieces_in_the_shortlist(
    pocketmt: Run, random_model: Path, faster: Path, text: Path
) -> None:
    whole = pocketmt("translate", "-m", random_model, "-i", text).stdout
    restricted = pocketmt("translate", "-m", faster, "-i", text).stdout
    assert restricted != whole
    assert pocketmt("translate", "-m", faster, "-i", text, "--no-shortlist").stdout == whole
    assert b"2 pieces for every sentence" in pocketmt("inspect", faster).stdout
    with open_model(faster) as file:
        vocabulary = Vocabulary(file.vocabulary())
    assert len(set(vocabulary.encode(restricted.decode().splitlines()[0]))) < 25


@pytest.mark.parametrize("beam", ["1", "4"])
def test_without_a_target_the_model_translates_the_source(
    pocketmt: Run, random_model: Path, parallel: tuple[Path, Path], tmp_path: Path, beam: str
) -> None:
    translations, outputs = tmp_path / "translations", [tmp_path / f"{name}.pocketmt" for name in ("own", "given")]
    pocketmt("translate", "-m", random_model, "-i", parallel[0], "-o", translations, "--beam-size", beam)
    for output, target in zip(outputs, (("--beam-size", beam), ("--target", translations)), strict=True):
        answer = pocketmt("shortlist", random_model, "--source", parallel[0], *target, "-o", output)
        assert answer.returncode == 0, answer.stderr
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


def test_source_lines_that_the_model_copies_are_counted(pocketmt: Run, random_model: Path, tmp_path: Path) -> None:
    source = tmp_path / "train.en"
    source.write_text(f"a bird\n{'a bird ' * 8000}\n")
    answer = pocketmt("shortlist", random_model, "--source", source, "-b", "1", "-o", tmp_path / "out.pocketmt")
    assert answer.returncode == 0, answer.stderr
    copied = "1 line has text that was copied, not translated (line 2: a sentence has 55,999 characters"
    assert f"warning: {source}: {copied}" in answer.stderr.decode()


def test_a_file_of_both_sides_gives_the_same_shortlist(
    pocketmt: Run, random_model: Path, faster: Path, parallel: tuple[Path, Path], tmp_path: Path
) -> None:
    pairs = list(zip(*(path.read_text().splitlines() for path in parallel), strict=True))
    (tmp_path / "both.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in pairs))
    units = (
        f'<tu><tuv xml:lang="de"><seg>{target}</seg></tuv><tuv xml:lang="en"><seg>{source}</seg></tuv></tu>\n'
        for source, target in pairs
    )
    (tmp_path / "both.tmx").write_text(f"<tmx><body>{''.join(units)}</body></tmx>")
    for name in ("both.tsv", "both.tmx"):
        output = tmp_path / f"{name}.pocketmt"
        options = ["--source", tmp_path / name, "--top-k", "1", "--frequent", "2", "-o", output]
        answer = pocketmt("shortlist", random_model, *options)
        assert answer.returncode == 0, answer.stderr
        assert output.read_bytes() == faster.read_bytes()


def test_recall_is_measured(
    pocketmt: Run, random_model: Path, faster: Path, text: Path, copied_text: Path, parallel: tuple[Path, Path]
) -> None:
    options = ["--recall-source", text, "--recall-target", copied_text, "--json"]
    answer = pocketmt("shortlist", faster, *options)
    assert answer.returncode == 0, answer.stderr
    record = json.loads(answer.stdout)
    recall = record["recall"]
    assert (recall["lines"], recall["vocabulary_size"], record["frequent"]) == (5, 60, 2)
    assert 0 < recall["reference"] < 1
    assert 0 <= recall["output"] < 1
    assert 6 <= recall["mean_pieces"] < 60
    more = ["-s", parallel[0], "-t", parallel[1], "--top-k", "40", "--frequent", "60"]
    full = json.loads(pocketmt("shortlist", random_model, *more, *options).stdout)
    assert full["recall"]["reference"] == 1
    assert "bytes" not in full
    table = pocketmt("shortlist", faster, *options[:-1]).stdout.decode()
    assert f"{recall['reference']:.2%}" in table and f"{recall['mean_pieces']:.0f} of 60" in table


def test_a_shortlist_is_copied_from_another_model(
    pocketmt: Run, another_model: Path, faster: Path, tmp_path: Path
) -> None:
    output = tmp_path / "another.pocketmt"
    assert pocketmt("shortlist", another_model, "--like", faster, "-o", output, "--json").returncode == 0
    with open_model(faster) as one, open_model(output) as other:
        assert one.shortlist() == other.shortlist() is not None
    again = pocketmt("shortlist", output, "--like", faster, "-o", output)
    size = output.stat().st_size
    assert again.returncode == 0 and f"{size:,} bytes, before {size:,}" in again.stderr.decode()


def test_alignments_of_another_tool_are_used(
    pocketmt: Run, random_model: Path, parallel: tuple[Path, Path], tmp_path: Path
) -> None:
    links = tmp_path / "links"
    links.write_text("0-0\n" * 20)
    answer = pocketmt(
        *("shortlist", random_model, "-s", parallel[0], "-t", parallel[1]),
        *("--alignments", links, "-o", tmp_path / "aligned.pocketmt"),
    )
    assert answer.returncode == 0, answer.stderr
    assert b"IBM" not in answer.stderr


def test_other_commands_run_with_or_without_the_shortlist(
    pocketmt: Run, faster: Path, text: Path, copied_text: Path
) -> None:
    for arguments, used in (([], True), (["--no-shortlist"], False)):
        answer = pocketmt("benchmark", faster, text, "--repeats", "1", "--json", *arguments)
        assert json.loads(answer.stdout)["shortlist"] is used
        scored = pocketmt(
            *("evaluate", "-m", faster, "-s", text, "-r", copied_text, "--json", "--device", "cpu", *arguments)
        )
        assert json.loads(scored.stdout)["shortlist"] is used


@pytest.mark.parametrize(("option", "used"), [([], False), (["--shortlist"], True)])
def test_evaluate_scores_what_translate_writes_with_pytorch(
    pocketmt: Run, faster: Path, text: Path, tmp_path: Path, option: list[str], used: bool
) -> None:
    translation = tmp_path / "translation.de"
    options = ["-m", faster, "--device", "torch-cpu", *option]
    assert pocketmt("translate", *options, "-i", text, "-o", translation).returncode == 0
    answer = pocketmt("evaluate", *options, "-s", text, "-r", translation, "--json")
    record = json.loads(answer.stdout)
    assert record["shortlist"] is used
    assert record["quality"]["chrf"]["value"] == pytest.approx(100)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--source", "train.en", "--alignments", "links", "-o", "out"], "give --target too"),
        (["-s", "train.en", "-t", "train.de", "--like", "x", "-o", "out"], "not both"),
        (["--alignments", "train.en", "-o", "out"], "--alignments needs"),
        (["--recall-source", "train.en"], "give --recall-target too"),
        (["--target", "train.en", "-o", "out"], "--target needs --source"),
        (["--recall-target", "train.en"], "needs --recall-source"),
        ([], "Give --output"),
        (["-o", "out"], "Give text to learn from"),
        (["--like", "other.pocketmt", "-o", "out", "--top-k", "9"], "--top-k and --frequent need --source"),
        (["--like", "other.pocketmt", "-o", "out", "-b", "8"], "--beam-size needs --recall-source"),
        (["-s", "train.en", "-t", "train.de", "-o", "out", "-b", "8"], "--beam-size needs --recall-source"),
        (["-s", "both.tsv", "-o", "out", "-b", "8"], "--beam-size needs --recall-source"),
        (["-s", "train.en", "-t", "train.de", "-o", "out", "--top-k", "256"], "256 is not in the range"),
    ],
)
def test_contradictory_options_are_usage_errors(
    random_model: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["shortlist", str(random_model), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_enough_text_gives_no_warning(
    random_model: Path, parallel: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    for few in (21, 20):
        monkeypatch.setattr("pocketmt.packing.shortlist.FEW_PAIRS", few)
        learn_shortlist(random_model, *parallel, top_k=1, frequent=2, warn=warnings.append)
    assert len(warnings) == 1 and "measure recall on other text with --recall-source" in warnings[0]


def test_a_missing_folder_is_reported_before_any_work(
    random_model: Path, parallel: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    texts = ["--source", str(parallel[0]), "--target", str(parallel[1])]
    assert run(["shortlist", str(random_model), *texts, "--output", "nowhere/out"]) == 1
    messages = capsys.readouterr().err
    assert "folder nowhere does not exist" in messages and "iteration" not in messages


def test_unusable_text_and_models_are_refused(
    random_model: Path, parallel: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short, empty, output = tmp_path / "short", tmp_path / "empty", tmp_path / "out.pocketmt"
    short.write_text("a\n")
    empty.write_text("\n \n")
    also_empty = tmp_path / "also_empty"
    also_empty.write_text("\n \n")
    cases = [
        (["-s", parallel[0], "-t", short], "train.en has 20 lines but"),
        (["-s", empty, "-t", also_empty], "no sentence pair"),
        (["-s", empty, "-t", empty], "empty is given for both sides"),
        (["-s", parallel[0], "-t", tmp_path / "absent"], "absent"),
        (["-s", parallel[0], "-t", parallel[1], "--alignments", short], "'a' is not a link"),
        (["--like", random_model], "holds no shortlist"),
        (["--like", parallel[0]], "not a model file"),
        (["-s", *parallel[:1], "-t", parallel[1], "--recall-source", short, "--recall-target", "none"], "none"),
    ]
    for arguments, message in cases:
        assert run(["shortlist", str(random_model), *map(str, arguments), "-o", str(output)]) == 1, arguments
        assert message in capsys.readouterr().err
        assert not output.exists()


def test_a_shortlist_of_another_vocabulary_is_refused(pocketmt: Run, faster: Path, tmp_path: Path) -> None:
    answer = pocketmt("shortlist", "captions-en-de", "--like", faster, "-o", tmp_path / "out.pocketmt")
    assert answer.returncode == 1
    assert "its shortlist is for another vocabulary than that of" in answer.stderr.decode()
