"""Exported models, run by CTranslate2, compute the same as the PyTorch network."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import ctranslate2  # type: ignore[import-untyped]
import pytest
import torch

from pocketmt.errors import ConfigurationError, DataError
from pocketmt.interop.ctranslate2.exporting import export
from pocketmt.model_file.architecture import TransformerArchitecture
from pocketmt.models.search import greedy_search
from pocketmt.models.transformer import Transformer
from pocketmt.text.vocabulary import BOS, EOS, PAD, SPECIAL_PIECES, UNK, Vocabulary
from pocketmt.text.vocabulary_training import train_vocabulary

LENGTH = 24
ARCHITECTURES = {
    "post-norm": {"norm": "post"},
    "pre-norm": {"norm": "pre"},
    "attention biases": {"attention_bias": True},
    "uneven depths": {"encoder_layers": 3, "decoder_layers": 1},
    "narrow heads": {"attention_dimension": 32},
    "wide heads": {"attention_dimension": 96, "norm": "pre"},
}


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    lines = [
        f"{first} {second} {third}" for first in ("one", "two") for second in "abcde" for third in ("red", "green")
    ]
    return train_vocabulary(lines, 40)


def architecture(vocabulary: Vocabulary, **changes: Any) -> TransformerArchitecture:
    base = TransformerArchitecture(
        encoder_layers=2,
        decoder_layers=2,
        model_dimension=64,
        feed_forward_dimension=128,
        attention_heads=4,
        attention_dimension=64,
        norm="post",
        attention_bias=False,
        vocabulary_size=len(vocabulary),
    )
    return replace(base, **changes)


def network(sizes: TransformerArchitecture) -> Transformer:
    """Return a network of random tensors, also norms and biases, so that the export of each is tested."""
    torch.manual_seed(1)
    model = Transformer(sizes).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 1:
                parameter.normal_(1.0 if name.endswith("norm.weight") else 0.0, 0.2)
    return model


def sources(vocabulary: Vocabulary) -> list[list[int]]:
    generator = torch.Generator().manual_seed(2)
    lengths = (1, 2, 7, 15, 40)
    return [
        torch.randint(SPECIAL_PIECES, len(vocabulary), (length,), generator=generator).tolist() for length in lengths
    ]


def exported(model: Transformer, vocabulary: Vocabulary, folder: Path, quantization: Any = "none") -> Any:
    export(model.state_dict(), model.architecture, vocabulary.model, folder, quantization)
    compute_type = "float32" if quantization == "none" else "int8"
    return ctranslate2.Translator(str(folder), compute_type=compute_type, inter_threads=1, intra_threads=1)


def translate(translator: Any, vocabulary: Vocabulary, batch: Sequence[Sequence[int]], **options: Any) -> list[Any]:
    never = [[piece] for piece in vocabulary.pieces([PAD, BOS])]
    results: list[Any] = translator.translate_batch(
        [vocabulary.pieces(ids) for ids in batch],
        suppress_sequences=never,
        disable_unk=True,
        max_decoding_length=LENGTH,
        **options,
    )
    return results


def log_probabilities(
    model: Transformer, source: Sequence[int], target: Sequence[int], never: Sequence[int] = ()
) -> Any:
    """Return log-probabilities of the target tokens and eos [T + 1] by the network, with none for ids in `never`."""
    with torch.inference_mode():
        decoded = model(torch.tensor([[*source, EOS]]), torch.tensor([[BOS, *target]]))
        logits = model.logits(decoded[0])
        logits[:, [*never]] = -torch.inf
        table = torch.log_softmax(logits, dim=-1)
    return table[torch.arange(len(target) + 1), torch.tensor([*target, EOS])]


@pytest.mark.parametrize("changes", ARCHITECTURES.values(), ids=ARCHITECTURES.keys())
def test_probabilities_are_the_same(vocabulary: Vocabulary, tmp_path: Path, changes: dict[str, Any]) -> None:
    model = network(architecture(vocabulary, **changes))
    translator = exported(model, vocabulary, tmp_path)
    batch = sources(vocabulary)
    targets = batch[::-1]
    scored = translator.score_batch([*map(vocabulary.pieces, batch)], [*map(vocabulary.pieces, targets)])
    for source, target, result in zip(batch, targets, scored, strict=True):
        expected = log_probabilities(model, source, target)
        torch.testing.assert_close(torch.tensor(result.log_probs), expected, atol=2e-4, rtol=0)


@pytest.mark.parametrize("changes", ARCHITECTURES.values(), ids=ARCHITECTURES.keys())
def test_greedy_translations_are_the_same(vocabulary: Vocabulary, tmp_path: Path, changes: dict[str, Any]) -> None:
    model = network(architecture(vocabulary, **changes))
    translator = exported(model, vocabulary, tmp_path)
    batch = sources(vocabulary)
    expected = greedy_search(model, batch, maximum_length=lambda _: LENGTH)
    results = translate(translator, vocabulary, batch, beam_size=1)
    assert [result.hypotheses[0] for result in results] == [*map(vocabulary.pieces, expected)]


def test_beam_search_reports_the_scores_of_the_network(vocabulary: Vocabulary, tmp_path: Path) -> None:
    model = network(architecture(vocabulary, norm="pre"))
    translator = exported(model, vocabulary, tmp_path)
    batch = sources(vocabulary)
    # The minimum length prevents eos, like the forced length of the benchmarks.
    results = translate(
        translator, vocabulary, batch, beam_size=4, num_hypotheses=4, return_scores=True, min_decoding_length=LENGTH
    )
    ids = {piece: index for index, piece in enumerate(vocabulary.pieces(range(len(vocabulary))))}
    for source, result in zip(batch, results, strict=True):
        assert [len(hypothesis) for hypothesis in result.hypotheses] == [LENGTH] * 4
        for hypothesis, score in zip(result.hypotheses, result.scores, strict=True):
            target = [ids[piece] for piece in hypothesis]
            scores = log_probabilities(model, source, target, never=[PAD, BOS, EOS, UNK])[:-1]
            assert score == pytest.approx(float(scores.mean()), abs=2e-4)


def test_int8_probabilities_are_close(vocabulary: Vocabulary, tmp_path: Path) -> None:
    model = network(architecture(vocabulary))
    # Without VNNI, CTranslate2 adds pairs of neighbouring products in 16 bits, which saturate; with every second weight
    # zero, no sum of two products of 8 bits can. Mean differences over 8 seeds are then 0.0055 to 0.0075, with VNNI and
    # without; those of dense weights are 0.010 to 0.015 with VNNI and 0.25 to 0.31 without.
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter[:, 1::2] = 0
    translator = exported(model, vocabulary, tmp_path, "int8")
    batch = sources(vocabulary)
    scored = translator.score_batch([*map(vocabulary.pieces, batch)], [*map(vocabulary.pieces, batch)])
    differences = [
        torch.tensor(result.log_probs) - log_probabilities(model, source, source)
        for source, result in zip(batch, scored, strict=True)
    ]
    assert 0 < float(torch.cat(differences).abs().mean()) < 0.03


def test_the_export_does_not_change_the_network(vocabulary: Vocabulary, tmp_path: Path) -> None:
    model = network(architecture(vocabulary))
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    export(model.state_dict(), model.architecture, vocabulary.model, tmp_path, "int8")
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, before[name]), name


def test_a_missing_tensor_is_named(vocabulary: Vocabulary, tmp_path: Path) -> None:
    model = network(architecture(vocabulary))
    tensors = model.state_dict()
    del tensors["decoder.layers.1.cross_attention.query.weight"]
    with pytest.raises(ConfigurationError, match=r"no tensor decoder\.layers\.1\.cross_attention\.query\.weight"):
        export(tensors, model.architecture, vocabulary.model, tmp_path)


def test_an_unknown_tensor_is_named(vocabulary: Vocabulary, tmp_path: Path) -> None:
    model = network(architecture(vocabulary, norm="pre"))
    with pytest.raises(ConfigurationError, match=r"no place for tensor decoder\.norm\.bias"):
        export(model.state_dict(), replace(model.architecture, norm="post"), vocabulary.model, tmp_path)


def test_a_wrong_shape_is_named(vocabulary: Vocabulary, tmp_path: Path) -> None:
    model = network(architecture(vocabulary))
    with pytest.raises(ConfigurationError, match=r"feed_forward\.inner\.weight is \[128, 64\], .* \[256, 64\]"):
        export(model.state_dict(), replace(model.architecture, feed_forward_dimension=256), vocabulary.model, tmp_path)


def test_a_vocabulary_of_another_size_is_refused(vocabulary: Vocabulary, tmp_path: Path) -> None:
    model = network(architecture(vocabulary, vocabulary_size=len(vocabulary) + 8))
    with pytest.raises(DataError, match="train"):
        export(model.state_dict(), model.architecture, vocabulary.model, tmp_path)
