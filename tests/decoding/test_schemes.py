"""Every scheme, packed as on a GPU: the decoder for GPUs finds the translations of the reference search."""

from pathlib import Path
from typing import Final

import pytest
import torch

from pocketmt.decoding.decoder import Decoder
from pocketmt.decoding.requests import SearchSettings
from pocketmt.models.search import beam_search, greedy_search
from pocketmt.packing.device.precision import load_network
from pocketmt.quantization import Scheme
from pocketmt.quantization.registry import SCHEMES, scheme_from_options
from pocketmt.quantization.row_groups import RowGroup
from pocketmt.text.vocabulary import Vocabulary
from tests.engine.conftest import sentences
from tests.engine.test_schemes import SCHEMES as STORED
from tests.engine.test_schemes import write
from tests.packing.device.test_precision import pack

from .test_decoder import LIMIT, requests

ALL: Final[dict[str, Scheme]] = {
    **STORED,
    **{f"{name} by default": scheme_from_options(name) for name in SCHEMES},
}


@pytest.mark.parametrize("precision", ["float32", "packed_bfloat16"])
@pytest.mark.parametrize("name", ALL)
def test_translations_equal_the_reference(tmp_path: Path, vocabulary: Vocabulary, name: str, precision: str) -> None:
    path, groups = tmp_path / "model.pocketmt", (RowGroup(ALL[name]),)
    write(path, vocabulary, groups, groups)
    reference, packed = (load_network(str(path), precision, torch.device("cpu")) for _ in range(2))
    pack(packed)
    sources = sentences(6, longest=8)
    greedy = Decoder([packed], 60).translate(requests(sources), SearchSettings(1, scores=False))
    assert [list(best[0].ids) for best in greedy] == greedy_search(reference, sources, lambda _: LIMIT)
    beams = Decoder([packed], 60).translate(requests(sources), SearchSettings(4))
    expected = beam_search(reference, sources, 4, maximum_length=lambda _: LIMIT)
    assert [[each.ids for each in best] for best in beams] == [[each.ids for each in best] for best in expected]
    assert len({each.ids for best in beams for each in best}) > 6  # The search has something to choose.
