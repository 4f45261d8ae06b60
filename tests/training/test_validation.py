"""Scores on validation text: what BLEU counts, and which update is the best."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import sacrebleu

import pocketmt.training.run as run
import pocketmt.training.validation as validation
from pocketmt.cli.main import run as command
from pocketmt.models.networks import make_network
from pocketmt.training.bleu_tokenization import bleu_tokenization
from pocketmt.training.checkpoints import load_checkpoint, load_weights, save_checkpoint
from pocketmt.training.configuration import Data, Model, read_configuration
from pocketmt.training.data import load_corpus
from pocketmt.training.run import TrainingProgress, train
from pocketmt.training.validation import Validation, validate
from tests.training.test_run import write_configuration, write_corpus

CHINESE = ["今天天气很好。", "他昨天买了一本新书。", "火车站在那边。"]
PHRASES = ["Guten Morgen", "Danke", "bis bald", "der rote Hund"]


@pytest.mark.parametrize(
    ("references", "expected"),
    [
        (["A man rides his old bike.", "Thank you."], "13a"),
        (["그는 어제 새 책을 샀습니다."], "13a"),
        (["Всем привет, друзья мои."], "13a"),
        (CHINESE, "char"),
        (["我们 在 GPU 上 训练 模型 ， 然后 测试 它"], "char"),
        (["日本語の文章を GPU で翻訳する。"], "char"),
        (["ภาษาไทยเขียนโดยไม่มีช่องว่าง"], "char"),
        (PHRASES, "char"),
        ([""], "char"),
    ],
)
def test_bleu_counts_characters_where_words_are_few_or_not_divided(references: list[str], expected: str) -> None:
    assert bleu_tokenization(references) == expected


@pytest.mark.parametrize("lines", [CHINESE, PHRASES])
def test_bleu_rises_with_every_line_that_is_right(
    lines: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lines.tsv").write_text("en\tzh\n" + "".join(f"{line}\t{line}\n" for line in lines))
    file = str(tmp_path / "lines.tsv")
    data = Data("en", "zh", training_source=file, validation_source=file, vocabulary_size=48, maximum_ratio=9.0)
    corpus = load_corpus(data, tmp_path / "vocabulary.model")
    network = make_network(Model(model_dimension=16, attention_dimension=16).architecture(48))
    texts: list[str] = []

    class FakeDecoder:
        def __init__(self, *arguments: object) -> None:
            pass

        def best(self, sources: Sequence[list[int]], beam_size: int, prefix: Sequence[int]) -> list[list[int]]:
            return [corpus.vocabularies.target.encode(text) for text in texts]

    monkeypatch.setattr(validation, "Decoder", FakeDecoder)
    found, by_words = [], []
    for right in range(len(lines) + 1):
        # The last character of the other lines is missing.
        texts[:] = [line if place < right else line[:-1] for place, line in enumerate(lines)]
        found.append(validate(network, corpus, 400).bleu)
        by_words.append(sacrebleu.corpus_bleu(texts, [lines]).score)
    assert found == sorted(set(found)) and found[0] > 50 and found[-1] == pytest.approx(100)
    assert by_words[0] == by_words[1] == 0
    assert validate(network, corpus, 400, "13a").bleu == by_words[-1]


def train_with_scores(
    folder: Path, scores: Sequence[tuple[float, float]], monkeypatch: pytest.MonkeyPatch, **training: object
) -> TrainingProgress:
    """Train in a folder while validations after every second update give BLEU and loss."""
    given = iter(scores)

    def fake(*arguments: object) -> Validation:
        bleu, loss = next(given)
        return Validation(loss, bleu)

    monkeypatch.setattr(run, "validate", fake)
    write_corpus(folder, pairs=20)
    settings = {"validate_every": 2, "warmup_updates": 2, **training}
    return train(read_configuration(write_configuration(folder, **settings)), folder / "run")


@pytest.mark.parametrize(
    ("scores", "best", "last"),
    [
        ([(0, 4.5), (0, 2.0), (0, 0.9)], 6, 6),  # a lower loss is better, and training goes on
        ([(0, 2.0), (0, 3.0), (0, 2.5)], 2, 4),
        ([(0, 2.0), (0, 2.0)], 2, 4),
        ([(9, 2.0), (8, 1.0)], 2, 4),  # BLEU comes first
        ([(8, 1.0), (9, 2.0), (9, 1.9)], 6, 6),
    ],
)
def test_the_lower_loss_is_better_where_bleu_is_equal(
    scores: list[tuple[float, float]], best: int, last: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress = train_with_scores(tmp_path, scores, monkeypatch, maximum_updates=6, patience=1)
    assert (progress.best_update, progress.update) == (best, last)
    assert (progress.best_bleu, progress.best_loss) == scores[best // 2 - 1]


def test_a_checkpoint_of_an_earlier_version_has_no_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert train_with_scores(tmp_path, [(0, 4.0)], monkeypatch, maximum_updates=2).best_loss == 4.0
    state = load_checkpoint(tmp_path / "run" / "checkpoint.pt")
    del state["position"]["best_loss"]
    save_checkpoint(tmp_path / "run" / "checkpoint.pt", state)
    progress = train_with_scores(tmp_path, [(0, 3.0)], monkeypatch, maximum_updates=4)
    assert (progress.best_update, progress.best_loss) == (2, -math.inf)
    assert train_with_scores(tmp_path, [(1, 3.0)], monkeypatch, maximum_updates=6).best_update == 6


def test_a_run_keeps_the_tokenization_of_its_first_validation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    used: list[object] = []

    def watching(*arguments: Any) -> Validation:
        used.append(arguments[-1])
        return validate(*arguments)

    monkeypatch.setattr(run, "validate", watching)
    write_corpus(tmp_path, pairs=20)
    (tmp_path / "dev.en").write_text("red cat\nblue dog\n")
    (tmp_path / "dev.up").write_text("CAT RED\nDOG BLUE\n")

    def train_by_command(updates: int) -> tuple[str, dict[str, Any]]:
        configuration = write_configuration(tmp_path, validate_every=2, warmup_updates=2, maximum_updates=updates)
        assert command(["train", str(configuration), "--output", str(tmp_path / "run")]) == 0
        return capsys.readouterr().err, load_weights(tmp_path / "run" / "model.safetensors")[1]["training"]

    messages, training = train_by_command(2)
    assert "validation BLEU (characters) " in messages and training["bleu_tokenization"] == "char"
    train_by_command(4)
    state = load_checkpoint(tmp_path / "run" / "checkpoint.pt")
    # As an earlier version saved it, which counted words in all text.
    del state["position"]["tokenization"]
    state["position"] |= {"best_bleu": -1.0, "best_loss": -math.inf}
    save_checkpoint(tmp_path / "run" / "checkpoint.pt", state)
    messages, training = train_by_command(6)
    assert "validation BLEU 0.0 at update 6" in messages and "bleu_tokenization" not in training
    train_by_command(8)
    assert used == ["char", "char", "13a", "13a"]
