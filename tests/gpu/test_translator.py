"""`Translator` on a GPU computes what the native engine computes from the same file."""

from pathlib import Path

import pytest

from pocketmt.engine import Translator
from pocketmt.packing.device.precision import PRECISIONS
from pocketmt.text.vocabulary import Vocabulary
from tests.engine.reference import GROUPINGS, architecture, random_network, write

LINES = ["A man rides a bike.", "", "the dog reads. A woman sees the big red house!", "two old men", "http://a.b/c"]


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("grouping", GROUPINGS)
def test_results_equal_the_engine(grouping: str, beam: int, tmp_path: Path, vocabulary: Vocabulary) -> None:
    path = tmp_path / "model.pocketmt"
    write(path, random_network(architecture()), vocabulary, GROUPINGS[grouping])
    native, gpu = Translator(path), Translator(path, device="cuda")
    for lines in (LINES, LINES[:2], LINES * 20):
        expected = native.translate(lines, beam_size=beam, max_length=40, check=False)
        assert gpu.translate(lines, beam_size=beam, max_length=40, check=False) == expected


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_every_precision_translates_as_on_the_processor(grouping: str, tmp_path: Path, vocabulary: Vocabulary) -> None:
    path = tmp_path / "model.pocketmt"
    write(path, random_network(architecture(feed_forward_dimension=64)), vocabulary, GROUPINGS[grouping])
    found: dict[str, list[str]] = {}
    for precision in PRECISIONS:
        on_gpu, here = (Translator(path, device=device, precision=precision) for device in ("cuda", "torch-cpu"))
        found[precision] = on_gpu.translate(LINES * 4, max_length=12, check=False)
        expected = here.translate(LINES * 4, max_length=12, check=False)
        # Sums in 16 bits are rounded in another order.
        assert sum(ours == theirs for ours, theirs in zip(found[precision], expected, strict=True)) >= 12, precision
    for name in ("float16", "bfloat16"):
        assert found[f"packed_{name}"] == found[name]
