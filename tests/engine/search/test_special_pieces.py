"""Special ids anywhere in the vocabulary, and pieces that are never generated."""

from pathlib import Path

import numpy as np
import pytest

from pocketmt.engine import _native
from pocketmt.engine.loading import native_model
from pocketmt.errors import EngineError
from pocketmt.model_file import TransformerArchitecture, open_model
from pocketmt.model_file.shortlist_encoding import Shortlist, listed_sides
from pocketmt.packing.shortlist import add_shortlist
from pocketmt.text.vocabulary import Vocabulary
from tests.engine.conftest import search_options, sentences
from tests.engine.reference import architecture, native_logits, random_network, write

PIECES = 120
EOS, UNK, PAD = 77, 119, 4
BANNED = (0, 60, 118)
NEVER = {PAD, UNK, *BANNED}
ANYWHERE = {
    "pad_id": PAD,
    "bos_id": None,
    "eos_id": EOS,
    "unk_id": UNK,
    "banned_ids": BANNED,
    "first_decoder_input": "zero",
    "output_bias": True,
}
EVERYTHING = list(range(PIECES))


class Opener:
    """Writes and opens random networks whose special ids lie anywhere."""

    def __init__(self, path: Path, vocabulary: Vocabulary) -> None:
        self._path, self._vocabulary = path, vocabulary

    def __call__(
        self, listed: list[int] | None = None, favoured: int | None = None, **changes: object
    ) -> _native.Model:
        """`listed`: pieces of every sentence's shortlist; `favoured`: a piece of high probability everywhere."""
        shape = architecture(**{**ANYWHERE, **changes})
        network = random_network(shape)
        if favoured is not None:
            assert network.output.bias is not None
            network.output.bias.data[favoured] = 100.0
        write(self._path, network, self._vocabulary)
        if listed is not None:
            add_shortlist(self._path, self._shortlist(shape, listed), self._path)
        with open_model(self._path) as file:
            return native_model(file)

    @staticmethod
    def _shortlist(shape: TransformerArchitecture, listed: list[int]) -> Shortlist:
        return Shortlist(listed, [[]] * PIECES, listed_sides(shape))


@pytest.fixture
def opened(tmp_path: Path, vocabulary: Vocabulary) -> Opener:
    return Opener(tmp_path / "model.pocketmt", vocabulary)


SEARCHES = {
    "greedy": {"beam_size": 1},
    "beam": {"beam_size": 5, "n_best": 5},
    "samples": {"beam_size": 3, "n_best": 3, "sampling": (5.0, 0, 1.0, 1)},
    "repetition penalty": {"beam_size": 2, "repetition_penalty": 3.0},
}


@pytest.mark.parametrize("options", SEARCHES.values(), ids=SEARCHES)
@pytest.mark.parametrize("listed", [None, [*range(40, 80), BANNED[2]]], ids=["whole", "shortlist"])
@pytest.mark.parametrize("favoured", sorted(NEVER))
def test_never_generated(opened: Opener, options: dict[str, object], listed: list[int] | None, favoured: int) -> None:
    model = opened(sorted(listed) if listed else None, favoured)
    for hypotheses in model.translate(sentences(5), search_options(max_length=8, **options)):
        for ids, score in hypotheses:
            assert not {*ids} & {*NEVER, EOS}
            assert score <= 0
            assert listed is None or {*ids} <= {*listed}


@pytest.mark.parametrize("listed", [None, EVERYTHING], ids=["whole", "shortlist"])
def test_special_pieces_that_may_be_generated(opened: Opener, listed: list[int] | None) -> None:
    options = search_options(beam_size=1, max_length=4)
    for piece in (PAD, UNK):
        model = opened(listed, piece, ban_special_pieces=False)
        assert model.translate([[5, 6]], options)[0][0][0] == [piece] * 4
    unknown = search_options(beam_size=1, max_length=4, unknown=True)
    assert opened(listed, UNK).translate([[5, 6]], unknown)[0][0][0] == [UNK] * 4
    banned = opened(listed, UNK, banned_ids=(*BANNED, UNK))
    assert UNK not in banned.translate([[5, 6]], unknown)[0][0][0]


@pytest.mark.parametrize("beam_size", [1, 3])
def test_a_shortlist_of_everything_changes_nothing(opened: Opener, beam_size: int) -> None:
    model = opened(EVERYTHING)
    sources = sentences(10)
    found = model.translate(sources, search_options(beam_size=beam_size, n_best=beam_size))
    assert found == model.translate(sources, search_options(beam_size=beam_size, n_best=beam_size, shortlist=False))


@pytest.mark.parametrize("listed", [None, [*range(70, 100)]], ids=["whole", "shortlist"])
def test_a_prefix_may_have_a_piece_that_is_never_generated(opened: Opener, listed: list[int] | None) -> None:
    """As a piece for the target's language."""
    model = opened(listed)
    options = search_options(beam_size=2, token_scores=True, max_length=6)
    [[(ids, _, token_scores, _)]] = model.submit([[8, 9]], options, [[BANNED[1], 75]]).details()
    assert ids[:2] == [BANNED[1], 75]
    logits = native_logits(model, [8, 9], ids)[0].astype(np.float64)
    allowed = [piece for piece in (listed or EVERYTHING) if piece not in NEVER] + ([] if listed is None else [EOS])
    total = np.exp(logits[sorted({*allowed, BANNED[1]})]).sum()
    assert token_scores[0] == pytest.approx(logits[BANNED[1]] - np.log(total), abs=1e-4)


@pytest.mark.parametrize("listed", [None, EVERYTHING], ids=["whole", "shortlist"])
def test_the_end_of_a_sentence_waits_for_the_least_length(opened: Opener, listed: list[int] | None) -> None:
    model = opened(listed, EOS)
    assert model.translate([[5, 6]], search_options(beam_size=1))[0][0][0] == []
    ids = model.translate([[5, 6]], search_options(beam_size=1, min_length=5))[0][0][0]
    assert len(ids) == 4 and EOS not in ids


@pytest.mark.parametrize("piece", [PAD, UNK, EOS])
def test_special_pieces_in_what_is_asked_for(opened: Opener, piece: int) -> None:
    model = opened()
    with pytest.raises(EngineError, match=f"a prefix has the special id {piece}"):
        model.submit([[5]], search_options(), [[piece]])
    with pytest.raises(EngineError, match=f"a suppressed sequence has the id {piece}, it must be below 120 and of no"):
        model.translate([[5]], search_options(suppressed_sequences=[[piece]]))
    assert model.translate([[5]], search_options(suppressed_sequences=[[1], [2], [3]]))


def test_the_most_hypotheses_are_as_many_as_pieces_that_can_be_generated(opened: Opener) -> None:
    model = opened()
    model.translate([[5]], search_options(beam_size=PIECES - len(NEVER) - 1))
    with pytest.raises(EngineError, match="beam_size is 115, it must be 1 to 114"):
        model.translate([[5]], search_options(beam_size=PIECES - len(NEVER)))


def test_sources_without_an_end(opened: Opener) -> None:
    model = opened(append_source_eos=False)
    assert model.translate([[5]], search_options())
    for run in (lambda: model.translate([[5], []], search_options()), lambda: model.logits([], [5])):
        with pytest.raises(EngineError, match="a source is empty, and this model does not append the end"):
            run()


def test_ids_beyond_the_vocabulary_of_their_side(opened: Opener) -> None:
    model = opened(embeddings="separate", source_vocabulary_size=130)
    assert len(native_logits(model, [129], [119])) == 2
    with pytest.raises(EngineError, match="token id 130 is not in the vocabulary of 130 pieces"):
        model.logits([130], [119])
    with pytest.raises(EngineError, match="token id 120 is not in the vocabulary of 120 pieces"):
        model.logits([129], [120])
