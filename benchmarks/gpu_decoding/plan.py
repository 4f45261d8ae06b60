"""Plans of measurements: everything, a short part of it, or a quick look on the processor."""

from dataclasses import dataclass, replace
from typing import Final

from benchmarks.gpu_decoding.systems import FOUR_BITS
from benchmarks.peer.models import RANDOM_VOCABULARY


@dataclass(frozen=True)
class Plan:
    """What is measured.

    Attributes:
        device: "cuda" or "torch-cpu".
        presets: networks with random weights.
        vocabulary: their number of pieces.
        precisions: of PocketMT.
        peer_precisions: of CTranslate2.
        together: the sweep: numbers of sentences that are decoded together.
        sentences: of the text.
        single_sentences: that are translated one at a time.
        rounds: that are timed, after one to warm up.
        ensemble_preset: network of the ensemble, without trained models.
        ensemble_precision: its precision.
        ensemble_sentences: different sentences that it translates.
        ensemble_lines: lines that it translates by greedy search and with a beam, sentences again and again; 0: none.
    """

    device: str
    presets: tuple[str, ...]
    vocabulary: int
    precisions: tuple[str, ...]
    peer_precisions: tuple[str, ...]
    together: tuple[int, ...]
    sentences: int
    single_sentences: int
    rounds: int
    ensemble_preset: str
    ensemble_precision: str
    ensemble_sentences: int
    ensemble_lines: tuple[int, int]


ON_GPU: Final = Plan(
    device="cuda",
    presets=("base", "12-1.tiny", "6-2.tiny"),
    vocabulary=RANDOM_VOCABULARY,
    precisions=("float16", "bfloat16", "int8_float16", FOUR_BITS),
    peer_precisions=("float16", "int8_float16", "int8"),
    together=(32, 64, 128, 256, 512, 768, 1024, 1132, 4096, 16_384),
    sentences=16_384,
    single_sentences=50,
    rounds=2,
    ensemble_preset="base",
    ensemble_precision="float16",
    ensemble_sentences=50_000,
    ensemble_lines=(1_000_000, 1_000_000),
)
SHORT: Final = replace(
    ON_GPU,
    precisions=("float16", "bfloat16", "int8_float16"),
    peer_precisions=("float16", "int8_float16"),
    together=(64, 512, 4096),
    sentences=4096,
    single_sentences=10,
    ensemble_lines=(40_000, 40_000),
)
QUICK: Final = Plan(
    device="torch-cpu",
    presets=("6-1.nano",),
    vocabulary=300,
    precisions=("bfloat16", FOUR_BITS),
    peer_precisions=("float32",),
    together=(4,),
    sentences=4,
    single_sentences=1,
    rounds=1,
    ensemble_preset="tiny",
    ensemble_precision="float32",
    ensemble_sentences=4,
    ensemble_lines=(6, 6),
)
