"""The ends of commands, the list of recipes and the report of a model file: ratio, scores, the next command."""

import dataclasses
import json
import shlex
from pathlib import Path
from typing import Final

import pytest

from benchmarks.record_files import read_record
from pocketmt.cli.endings import BINARY_CODES, FOUR_BITS, SMALL, speed_note
from pocketmt.cli.main import run
from pocketmt.compression.run import training_before
from pocketmt.model_file.report import inspect_model
from pocketmt.packing.decoded import read_model
from pocketmt.recipes.catalogue import RECOMMENDED, recipe_names
from pocketmt.training.checkpoints import load_weights, save_weights
from tests.compression.tiny_run import write_tiny_run

RECORDS: Final = Path(__file__).parents[2] / "benchmarks" / "records"


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("a tiny run"))


def next_commands(messages: str) -> list[list[str]]:
    lines = [line.partition(": ")[2] for line in messages.splitlines() if line.startswith(("next: ", "  or: "))]
    return [shlex.split(line) for line in lines]


def test_compress_ends_with_ratio_quality_and_the_next_command(
    tiny_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "small.pocketmt"
    arguments = ["compress", str(tiny_run), "log4-distilled", "--limit-updates", "2", "--output", str(output)]
    assert run([*arguments, "--licence", "CC0"]) == 0
    messages = capsys.readouterr().err
    size = output.stat().st_size
    assert run(["inspect", str(output), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    ratio = report["float32_file_bytes"] / size
    assert ratio > 2
    assert (
        f"{output}: {size:,} bytes, {ratio:.1f} times smaller than in float32, validation BLEU (characters) "
        in messages
    )
    assert "(before compression 0.0)" in messages
    translate, shortlist = next_commands(messages)
    assert translate == ["pocketmt", "translate", "--model", str(output), "<", "TEXT"]
    assert shortlist[:3] == ["pocketmt", "shortlist", str(output)]
    assert report["recipe"]["name"] == "log4-distilled" and report["training"]["compression"]["update"] >= 0
    assert (report["licence"], report["unit"]) == ("CC0", "sentence")
    assert run(["inspect", str(output)]) == 0
    lines = {line.split(":")[0]: line.partition(":")[2].strip() for line in capsys.readouterr().out.splitlines()}
    assert lines["recipe"].startswith("log4-distilled: 4-bit logarithmic weights")
    assert lines["training"].startswith("update 0, ") and "retraining update" in lines["training"]
    after, before = lines["scores"].split("; ")
    assert after.startswith("validation BLEU (characters) ")
    assert before == "validation BLEU (characters) 0, validation loss 4 before compression"
    assert "tokenization" not in lines["training"]
    assert lines["licence"] == "CC0" and "to" in lines["languages"]


def test_compress_says_that_a_file_is_not_smaller_than_the_one_before(
    tiny_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {scheme: tmp_path / f"{scheme}.pocketmt" for scheme in ("logarithmic4", "float32")}
    for scheme, file in files.items():
        assert run(["pack", str(tiny_run), "--scheme", scheme, "--output", str(file)]) == 0
    capsys.readouterr()
    before = f"{files['logarithmic4']} ({files['logarithmic4'].stat().st_size:,} bytes)"
    compared = {
        "logarithmic4": f"larger than {before}, which is in 4 bits already",
        "float32": "times smaller than in float32",
    }
    for scheme, words in compared.items():
        assert run(["compress", str(files[scheme]), "8bit", "--output", str(tmp_path / f"{scheme}.8bit")]) == 0
        messages = capsys.readouterr().err
        assert words in messages and messages.count(" than ") == 1
    assert run(["compress", "captions-en-de", "8bit", "--output", str(tmp_path / "bundled.8bit")]) == 0
    assert "bytes, larger than captions-en-de (" in capsys.readouterr().err


def test_pack_in_float32_says_no_ratio(tiny_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "packed.pocketmt"
    assert run(["pack", str(tiny_run), "--scheme", "float32", "--output", str(output)]) == 0
    messages = capsys.readouterr().err
    assert f"{output}: {output.stat().st_size:,} bytes, validation BLEU" in messages and "times" not in messages


@pytest.mark.parametrize(
    ("recipe", "note"), [("mixed-2-bits-distilled", BINARY_CODES), ("log4-distilled", FOUR_BITS), ("8bit", "")]
)
def test_the_speed_of_a_small_model_in_few_bits_is_said(
    recipe: str, note: str, tiny_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "small.pocketmt"
    arguments = ["compress", str(tiny_run), recipe, "--output", str(output)]
    assert run(arguments if recipe == "8bit" else [*arguments, "--limit-updates", "1"]) == 0
    messages = capsys.readouterr().err
    assert [line for line in messages.splitlines() if line.startswith("note: ")] == [note] * bool(note)
    report = inspect_model(output)
    large = dataclasses.replace(report.architecture, model_dimension=SMALL + 2)
    assert speed_note(dataclasses.replace(report, architecture=large)) == ""


def test_pack_says_the_speed_of_a_small_model_in_4_bits(
    tiny_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["pack", str(tiny_run), "--scheme", "logarithmic4", "--output", str(tmp_path / "small.pocketmt")]) == 0
    assert FOUR_BITS in capsys.readouterr().err.splitlines()


def test_the_notes_have_the_speed_of_the_records() -> None:
    speeds: dict[tuple[str, str, bool], set[float]] = {}
    for name in ("peer-students", "peer-deep-students", "peer-avx2-students", "peer-amx"):
        for row in read_record(RECORDS / f"{name}.json")["rows"]:
            # Trained models write more pieces in 4 bits, which is no property of the products.
            if row["weights"] in ("logarithmic4", "mixed2.6") and row["model"].endswith("tiny, random weights"):
                one_row = row["case"] == "one by one, greedy"
                key = row["weights"], row["instruction_set"], one_row
                speeds.setdefault(key, set()).add(row["times_our_8_bit"])

    def said(weights: str, instruction_sets: tuple[str, ...], one_row: tuple[bool, ...]) -> str:
        found = set().union(
            *(speeds[weights, instructions, one] for instructions in instruction_sets for one in one_row)
        )
        return f"at {min(found):.2f} to {max(found):.2f} times"

    both, any_rows = ("avx512_vnni", "avx2"), (True, False)
    assert f"--beam-size 1 {said('mixed2.6', both, (True,))} " in BINARY_CODES
    assert f"larger beam {said('mixed2.6', both, (False,))}" in BINARY_CODES
    assert f"with AMX {said('mixed2.6', ('amx_int8',), (False,))}" in BINARY_CODES
    assert f"AVX2 alone they translate {said('logarithmic4', ('avx2',), any_rows)} " in FOUR_BITS
    assert f"VNNI {said('logarithmic4', ('avx512_vnni',), any_rows)}" in FOUR_BITS
    assert f"with AMX {said('logarithmic4', ('amx_int8',), any_rows)}" in FOUR_BITS


def test_compress_from_plain_text_names_what_it_is_scored_against(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, output = tmp_path / "text.en", tmp_path / "small.pocketmt"
    text.write_text("A man rides a bike.\nTwo dogs run on the beach.\n" * 5)
    assert run(["compress", "captions-en-de", "8bit-static", "--text", str(text), "--output", str(output)]) == 0
    messages = capsys.readouterr().err
    assert "against the uncompressed model's translations" in messages and "before compression" not in messages
    assert run(["inspect", str(output)]) == 0
    assert "scores: BLEU against the uncompressed model's translations" in " ".join(capsys.readouterr().out.split())


def test_scores_of_words_and_of_characters_are_not_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_folder, output = write_tiny_run(tmp_path), tmp_path / "small.pocketmt"
    weights, metadata = load_weights(run_folder / "model.safetensors")
    del metadata["training"]["bleu_tokenization"]  # as an earlier version trained it
    save_weights(run_folder / "model.safetensors", weights, metadata)
    arguments = ["compress", str(run_folder), "log4-distilled", "--limit-updates", "2", "--output", str(output)]
    assert run(arguments) == 0
    messages = capsys.readouterr().err
    assert "validation BLEU (characters) " in messages and "before compression" not in messages
    assert run(["inspect", str(output)]) == 0
    (scores,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("scores:"))
    assert scores.count("BLEU") == 1 and scores.endswith("; validation loss 4 before compression")
    compression = read_model(str(output)).training["compression"]
    earlier = training_before(read_model(str(output)))
    assert (earlier["validation_bleu"], earlier["bleu_tokenization"]) == (compression["bleu"], "char")
    assert run(["pack", str(run_folder), "--output", str(tmp_path / "packed.pocketmt")]) == 0
    assert "validation BLEU 0.0 before packing" in capsys.readouterr().err


def test_pack_ends_with_ratio_and_the_next_commands(
    tiny_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "packed.pocketmt"
    assert run(["pack", str(tiny_run), "--output", str(output)]) == 0
    messages = capsys.readouterr().err
    assert "times smaller than in float32, validation BLEU (characters) 0.0 before packing" in messages
    translate, compress = next_commands(messages)
    assert translate[:4] == ["pocketmt", "translate", "--model", str(output)]
    assert compress[:4] == ["pocketmt", "compress", str(tiny_run), "affine4-distilled"]
    assert run(["inspect", str(output)]) == 0
    assert "none, packed as uniform8" in capsys.readouterr().out


def test_distill_ends_with_the_next_command(tiny_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, outputs = tmp_path / "text.en", [str(tmp_path / "out.en"), str(tmp_path / "out.up")]
    text.write_text("red cat\n")
    assert run(["distill", str(tiny_run), "--text", str(text), "-b", "1", "-o", *outputs]) == 0
    (clean,) = next_commands(capsys.readouterr().err)
    # Without --languages: "up" is not a language that `clean` knows.
    cleaned = [str(tmp_path / "clean.out.en"), str(tmp_path / "clean.out.up")]
    assert clean == ["pocketmt", "clean", *outputs, "--output", *cleaned]


def test_the_list_begins_with_the_recommended_recipes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compress", "--list"]) == 0
    listed = capsys.readouterr().out
    names = [line for line in listed.splitlines() if line in recipe_names()]
    recommended = [each.name for each in RECOMMENDED]
    assert names[: len(recommended)] == recommended
    assert sorted(names) == recipe_names()
    assert listed.index("Recommended:") < listed.index(recommended[0]) < listed.index("Others:")
    for each in RECOMMENDED:
        assert f"{each.name}\n    {each.size}. {each.use}\n" in listed


def test_help_and_readme_recommend_the_first_recipe_of_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compress", "--help"]) == 0
    first = RECOMMENDED[0].name
    examples = capsys.readouterr().out.partition("Examples:")[2]
    assert f"pocketmt compress runs/captions {first} " in examples.splitlines()[1]
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert first in readme
