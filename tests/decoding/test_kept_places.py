"""Places that are kept on a GPU find the same translations when they are used again, as new ones do."""

from collections.abc import Sequence

import pytest

from pocketmt.decoding import decoder as decoder_module
from pocketmt.decoding.decoder import Decoder
from pocketmt.decoding.requests import Request, SearchSettings
from pocketmt.decoding.slots import Slots
from pocketmt.errors import EngineError
from pocketmt.models.network import TranslationNetwork
from tests.decoding.test_decoder import ending_network
from tests.engine.conftest import sentences
from tests.engine.reference import architecture

LONG = 70  # More than two numbers of positions, 32 and 64.


@pytest.fixture
def decoder(monkeypatch: pytest.MonkeyPatch) -> Decoder:
    """Return a decoder that keeps places as on a GPU with much memory."""
    monkeypatch.setattr(decoder_module, "unused_bytes", lambda device: 1 << 40)
    found = Decoder([ending_network(architecture(decoder_layers=1))])
    found.on_gpu = True
    return found


def assert_equals_new(decoder: Decoder, requests: Sequence[Request], settings: SearchSettings) -> None:
    found = decoder.translate(requests, settings)
    expected = Decoder(network_of(decoder)).translate(requests, settings)
    assert max(len(best[0].ids) for best in expected) >= LONG
    assert [[each.ids for each in best] for best in found] == [[each.ids for each in best] for best in expected]


def network_of(decoder: Decoder) -> Sequence[TranslationNetwork]:
    return decoder._networks


@pytest.mark.parametrize("beam", [1, 3])
def test_translations_that_moved_to_more_positions(decoder: Decoder, beam: int) -> None:
    sources = sentences(30, longest=20)
    for given in (sources, sources[:17], sources, sources[3:24]):
        requests = [Request(source, LONG + 20) for source in given]
        assert_equals_new(decoder, requests, SearchSettings(beam, min_length=LONG + 1))


@pytest.mark.parametrize("beam", [1, 3])
def test_prefixes_of_earlier_sentences(decoder: Decoder, beam: int) -> None:
    sources = sentences(12, longest=20)
    for length in (45, 3, 45, 7):
        requests = [
            Request(source, LONG + 5, prefix=[5 + number % 3] * length) for number, source in enumerate(sources)
        ]
        assert_equals_new(decoder, requests, SearchSettings(beam, min_length=LONG + 1))


@pytest.mark.parametrize("beam", [1, 3])
def test_sentences_after_an_error(decoder: Decoder, beam: int) -> None:
    shape = network_of(decoder)[0].architecture
    pieces = range(shape.vocabulary_size)
    requests = [Request(source, LONG + 20, allowed=pieces) for source in sentences(30, longest=20)]
    settings = SearchSettings(beam, min_length=LONG + 1)
    with pytest.raises(EngineError, match="no translation of a finite probability"):
        decoder.translate([*requests, Request([5], LONG + 20, allowed=shape.never_generated_ids)], settings)
    assert_equals_new(decoder, requests[:17], settings)


@pytest.mark.parametrize("beam", [1, 3])
def test_sentences_after_an_interrupt(decoder: Decoder, beam: int, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = [Request(source, LONG + 20) for source in sentences(30, longest=20)]
    settings, step, steps = SearchSettings(beam, min_length=LONG + 1), Slots.step, iter(range(1000))

    def interrupted(slots: Slots) -> None:
        if next(steps) == 45:
            raise KeyboardInterrupt
        step(slots)

    monkeypatch.setattr(Slots, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        decoder.translate(requests, settings)
    assert_equals_new(decoder, requests[:17], settings)
