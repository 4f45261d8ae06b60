"""The loss by trimming, of a random network whose own translations are the references."""

import dataclasses
from pathlib import Path

import pytest

from pocketmt.engine import Translator
from pocketmt.evaluation.trimming import measure_trimming
from pocketmt.interop.importing import write_foreign
from pocketmt.model_file.vocabularies import load_checked
from pocketmt.trimming.model import trim_model
from tests.trimming.test_model import ENGLISH, GERMAN, SEEN, UNSEEN, joint_model


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("models")
    whole = joint_model()
    trimmed, _ = trim_model(whole, [*ENGLISH[SEEN], *GERMAN[SEEN]])
    write_foreign(whole, folder / "whole.pocketmt")
    write_foreign(trimmed, folder / "trimmed.pocketmt")
    return folder / "whole.pocketmt", folder / "trimmed.pocketmt"


def text(path: Path, lines: tuple[str, ...] | list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_pieces_and_scores_before_and_after(files: tuple[Path, Path], tmp_path: Path) -> None:
    source = text(tmp_path / "source", ENGLISH[UNSEEN])
    own = Translator(files[0]).translate(ENGLISH[UNSEEN], beam_size=1, check=False)
    loss = measure_trimming(*files, source, text(tmp_path / "references", own), beam_size=1)
    assert loss.bleu is not None and loss.target is not None
    assert loss.bleu[0] == pytest.approx(100) and loss.bleu[1] < 100
    assert loss.source.lines == len(ENGLISH[UNSEEN]) and loss.source.changed_lines > 0
    first, second, last = loss.lines()
    assert (
        first.startswith("source: ") and second.startswith("references: ") and last.startswith("BLEU 100.00, trimmed")
    )


def test_a_parallel_format_has_text_and_references(files: tuple[Path, Path], tmp_path: Path) -> None:
    own = Translator(files[0]).translate(ENGLISH[UNSEEN], beam_size=1, check=False)
    both = text(tmp_path / "both.tsv", [f"{line}\t{each}" for line, each in zip(ENGLISH[UNSEEN], own, strict=True)])
    loss = measure_trimming(*files, both, both, beam_size=1)
    assert loss.bleu is not None and loss.bleu[0] == pytest.approx(100)
    assert measure_trimming(*files, both).source == loss.source


def test_without_references_there_is_no_score(files: tuple[Path, Path], tmp_path: Path) -> None:
    loss = measure_trimming(*files, text(tmp_path / "source", ENGLISH[SEEN]))
    assert loss.bleu is None and loss.target is None
    pieces = f"0.00 % of {loss.source.pieces:,} pieces are divided otherwise; unknown pieces 0, now 0"
    assert [*loss.lines()] == [f"source: 0.0 % of 40 lines and {pieces}"]


@pytest.mark.parametrize(("unit", "texts"), [("sentence", ["in。", "a dog！", "man"]), ("line", ["in。a dog！man"])])
def test_what_the_engine_encodes_at_once_is_measured(tmp_path: Path, unit: str, texts: list[str]) -> None:
    model = joint_model()
    model = dataclasses.replace(model, metadata=dataclasses.replace(model.metadata, unit=unit))
    path = tmp_path / "model.pocketmt"
    write_foreign(model, path)
    loss = measure_trimming(path, path, text(tmp_path / "source", ["in。a dog！man"]))
    vocabulary = load_checked(model.vocabularies, model.architecture).source
    assert loss.source.lines == 1
    assert loss.source.pieces == sum(len(vocabulary.encode_as_pieces(each)) for each in texts)
