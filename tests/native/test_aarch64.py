"""The engine on AArch64, compiled by Debian's cross compiler and run under emulation: the same bits as on this CPU."""

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.arm_instructions.emulation import Emulated, Processor, build, missing, run
from pocketmt.engine.bundled import resolve_model
from pocketmt.engine.loading import native_model
from pocketmt.model_file import open_model
from pocketmt.packing.contents import ModelContents
from pocketmt.packing.model_file import pack
from pocketmt.text.stored_vocabulary import SpecialIds, StoredVocabularies, StoredVocabulary
from pocketmt.text.vocabulary import OWN_IDS, Vocabulary
from tests.engine import test_fully_quantized, test_lstm
from tests.engine.conftest import search_options, sentences
from tests.engine.reference import architecture, mixed, random_network, write
from tests.engine.test_schemes import GROUPS, METADATA, SHAPES, Groups

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

PORTABLE = Processor("max", "portable")
NEON = Processor("max", "neon_dot_product")
MATRIX = Processor("max", "neon_i8mm")
OLDER = Processor("cortex-a57")  # of ARMv8.0, which has no dot product
TEXT = ["A man rides a bike.", "Two dogs are running through the snow.", "A woman in a red coat is reading a book."]


@pytest.fixture(scope="session")
def program() -> Path:
    return build()


@pytest.mark.parametrize(
    ("processor", "name"), [("max", "neon_i8mm"), ("neoverse-n1", "neon_dot_product"), ("cortex-a57", "portable")]
)
def test_the_best_that_the_processor_has(program: Path, processor: str, name: str) -> None:
    assert run(program, Processor(processor), "name").stdout.decode() == f"{name}\n"


@pytest.mark.parametrize("name", ["neon_i8mm", "neon_dot_product", "avx2"])
def test_an_instruction_set_that_the_processor_lacks(program: Path, name: str) -> None:
    done = run(program, Processor("cortex-a57", name), "name")
    assert done.returncode == 1
    assert f"does not offer {name}" in done.stderr.decode()


@pytest.mark.parametrize("processor", [PORTABLE, NEON, MATRIX, OLDER], ids=str)
def test_products_are_those_of_the_reference(program: Path, processor: Processor) -> None:
    done = run(program, processor, "products")
    assert done.returncode == 0, done.stderr.decode()
    assert int(done.stdout) > 100


def with_special_ids(vocabulary: Vocabulary, ids: SpecialIds) -> StoredVocabularies:
    """The pieces of a vocabulary, in an id table where its own special pieces have other ids."""
    if ids == OWN_IDS:
        return StoredVocabularies(vocabulary.stored)
    pieces = [f"surplus{id}" for id in range(len(vocabulary))]
    pieces[ids.eos], pieces[ids.unk] = "</s>", "<unk>"
    return StoredVocabularies(StoredVocabulary(vocabulary.model, tuple(pieces)))


def of_groups(embedding: Groups, others: Groups, **shape: object) -> Callable[[Path, Vocabulary], object]:
    def write_model(path: Path, vocabulary: Vocabulary) -> None:
        model = random_network(architecture(**shape))
        choice = {"embedding.weight": embedding, "*": others}
        vocabularies = with_special_ids(vocabulary, model.architecture.special_ids)
        pack(path, ModelContents(model.state_dict(), model.architecture, vocabularies, choice, METADATA))

    return write_model


UNIFORM, LEVELS, SIX_BITS, BINARY = (
    test_lstm.groups("uniform", 8),
    test_lstm.groups("logarithmic", 4),
    test_lstm.groups("affine", 6),
    test_lstm.groups("binary", 3),
)
# All of their products are in integers: every instruction set gives the same bits.
MODELS: dict[str, Callable[[Path, Vocabulary], object]] = {
    "8 bits, 4 bits": of_groups(LEVELS, UNIFORM),
    "6 bits, binary codes, odd sizes": of_groups(SIX_BITS, BINARY, **SHAPES["odd"]),
    "nine groups": of_groups(GROUPS["nine"], test_lstm.groups("affine", 8)),
    "recurrent units": of_groups(UNIFORM, LEVELS, decoder_autoregression="ssru"),
    "options of other programs": of_groups(
        UNIFORM,
        LEVELS,
        activation="gelu",
        positions="concatenated_inclusive",
        position_offset=2,
        embedding_norm=True,
        output_projection="untied",
        output_bias=True,
        first_decoder_input="zero",
        eos_id=0,
        unk_id=1,
        pad_id=None,
        bos_id=None,
        banned_ids=(50, 60),
    ),
    "average attention, swish": of_groups(
        LEVELS,
        UNIFORM,
        activation="swish",
        decoder_autoregression="average_attention",
        average_attention_dimension=40,
        average_attention_activation="gelu_tanh",
    ),
    "trained ranges": lambda path, vocabulary: test_fully_quantized.write(
        path, vocabulary, test_fully_quantized.EXACT["strategy"]
    ),
    "LSTM": lambda path, vocabulary: test_lstm.Written(path, vocabulary, test_lstm.SCHEMES["8 bit"], {}),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, vocabulary: Vocabulary) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.pocketmt"
    MODELS[request.param](path, vocabulary)
    return path


def assert_same_bits(program: Path, processor: Processor, path: Path) -> None:
    with open_model(path) as file:
        here, there = native_model(file, instruction_set="portable"), Emulated(program, processor, file, path.parent)
    source, target = sentences(2, longest=40)
    assert there.logits(source, target) == here.logits(source, target)
    sources = sentences(8)
    expected = [each[0][0] for each in here.translate(sources, search_options(beam_size=3))]
    assert there.translate(sources, beam_size=3) == expected


@pytest.mark.parametrize("processor", [PORTABLE, NEON, MATRIX, OLDER], ids=str)
def test_models_in_integers(program: Path, model: Path, processor: Processor) -> None:
    assert_same_bits(program, processor, model)


def test_a_model_with_matrices_in_fp32(program: Path, tmp_path: Path, vocabulary: Vocabulary) -> None:
    """The sums of portable kernels have one order, without fused multiply-adds."""
    write(tmp_path / "model.pocketmt", random_network(architecture()), vocabulary, mixed)
    assert_same_bits(program, PORTABLE, tmp_path / "model.pocketmt")


@pytest.mark.parametrize("beam_size", [1, 4])
@pytest.mark.parametrize("name", ["captions-en-de", "captions-en-de-8bit"])
@pytest.mark.parametrize("processor", [NEON, MATRIX], ids=str)
def test_bundled_models(program: Path, tmp_path: Path, name: str, beam_size: int, processor: Processor) -> None:
    with open_model(resolve_model(name)) as file:
        sources = [Vocabulary(file.vocabulary()).encode(line) for line in TEXT]
        here, there = native_model(file), Emulated(program, processor, file, tmp_path)
    expected = [each[0][0] for each in here.translate(sources, search_options(beam_size=beam_size))]
    assert there.translate(sources, beam_size) == expected
