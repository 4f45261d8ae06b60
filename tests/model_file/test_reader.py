import struct
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors import safe_open

from benchmarks.peer.piece_list import made_up_vocabulary
from pocketmt.errors import ModelFileError
from pocketmt.model_file import StoredRowGroup, open_model
from pocketmt.model_file.matrices.stored_forms import LogarithmicForm, UniformForm
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.models.networks import make_network
from pocketmt.models.presets import preset
from pocketmt.packing.contents import ModelContents
from pocketmt.packing.model_file import pack
from tests.model_file import sample
from tests.resident_memory import SMAPS, resident_bytes


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "sample.pocketmt"
    sample.write_sample(path)
    return path


def test_what_was_written_is_read(path: Path) -> None:
    with open_model(path) as file:
        assert file.architecture == sample.ARCHITECTURE
        assert file.manifest == sample.MANIFEST
        assert (file.source_language, file.target_language) == ("en", "de")
        assert file.vocabulary() == sample.VOCABULARY
        for name, tensor in sample.tensors().items():
            entry = file.tensors[name]
            assert (entry.dtype, entry.shape, entry.size) == (tensor.dtype, tensor.shape, len(tensor.data))
            assert bytes(file.buffer[entry.offset : entry.offset + entry.size]) == tensor.data
        assert set(file.tensors) == {*sample.tensors(), "vocabulary"}


def test_a_matrix_is_its_row_groups_in_order(path: Path) -> None:
    levels = tuple(sample.LEVELS)
    with open_model(path) as file:
        assert set(file.matrices) == set(sample.MANIFEST["matrices"])  # type: ignore[call-overload]
        assert file.matrices["embedding.weight"] == (
            StoredRowGroup(UniformForm(8, "row"), 4, 6),
            StoredRowGroup(LogarithmicForm(4, "row", levels), 5, 6),
            StoredRowGroup(LogarithmicForm(4, "matrix", levels), 2, 6),
        )


def test_every_tensor_starts_on_a_boundary(path: Path) -> None:
    with open_model(path) as file:
        assert all(entry.offset % 64 == 0 for entry in file.tensors.values())


def test_any_safetensors_reader_opens_the_file(path: Path) -> None:
    with safe_open(path, framework="np") as file:
        assert {name for name in file.keys() if not name.startswith("padding.")} == {*sample.tensors(), "vocabulary"}  # noqa: SIM118
        for name, tensor in sample.tensors().items():
            if tensor.dtype == "F32":
                assert file.get_tensor(name).tobytes() == tensor.data


def test_the_buffer_is_read_only_and_ends_with_the_file(path: Path) -> None:
    with open_model(path) as file:
        assert file.buffer.readonly
        assert len(file.buffer) == path.stat().st_size
        buffer = file.buffer
    with pytest.raises(ValueError, match="released"):
        bytes(buffer)


def test_a_view_that_someone_holds_outlives_close(path: Path) -> None:
    file = open_model(path)
    view = file.data("embedding.weight.0.codes")
    file.close()
    assert bytes(view) == sample.tensors()["embedding.weight.0.codes"].data


def test_damage_goes_unseen_only_without_the_digest(path: Path) -> None:
    with open_model(path) as file:
        offset = file.tensors[sample.PLAIN].offset
    damaged = bytearray(path.read_bytes())
    damaged[offset] ^= 1
    path.write_bytes(damaged)
    open_model(path, check_digest=False).close()
    with pytest.raises(ModelFileError, match=r"sample.pocketmt: the digest does not match.*[Cc]opy or download"):
        open_model(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("embedding.weight.0.scale", struct.pack("<H", 0x7FC0)),  # NaN
        ("embedding.weight.0.scale", struct.pack("<H", 0x7F80)),  # infinity
        ("embedding.weight.1.scale", struct.pack("<H", 0xBF80)),  # -1
        ("embedding.weight.2.scale", struct.pack("<f", float("nan"))),
        ("embedding.weight.2.scale", struct.pack("<f", -1.0)),
        ("embedding.weight.0.codes", b"\x80"),  # -128
        (sample.BIAS, struct.pack("<f", float("inf"))),
        ("encoder.norm.weight", struct.pack("<f", float("nan"))),
    ],
)
def test_values_that_would_poison_arithmetic_are_refused(path: Path, name: str, value: bytes) -> None:
    with open_model(path) as file:
        offset = file.tensors[name].offset
    content = bytearray(path.read_bytes())
    content[offset : offset + len(value)] = value
    path.write_bytes(sample.sealed(bytes(content)))
    with pytest.raises(ModelFileError, match=name):
        open_model(path)


def test_reading_needs_the_standard_library_alone(path: Path) -> None:
    program = (
        "import sys; from pocketmt.model_file import open_model; import pocketmt.model_file.report as report;"
        f"report.inspect_model({str(path)!r}).to_text();"
        "print([name for name in ('torch', 'numpy', 'msgspec', 'rich', 'safetensors') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_a_file_of_version_1_loads_for_ever() -> None:
    """Written once, by the first version of the writer, and never again."""
    with open_model(Path(__file__).parent / "version_1.pocketmt") as file:
        assert file.manifest == sample.MANIFEST
        assert file.vocabulary() == sample.VOCABULARY
        for name, tensor in sample.tensors().items():
            assert bytes(file.data(name)) == tensor.data


@pytest.mark.skipif(not SMAPS.exists(), reason="resident memory is read from /proc")
def test_a_file_whose_digest_was_compared_does_not_stay_in_memory(tmp_path: Path) -> None:
    shape, path = preset("tiny", 30_000), tmp_path / "large.pocketmt"
    vocabulary = made_up_vocabulary(30_000)
    pack(path, ModelContents(make_network(shape).state_dict(), shape, vocabulary, "float32", ModelMetadata()))
    with open_model(path) as file:
        assert resident_bytes(path) < 0.5 * path.stat().st_size
        assert len(bytes(file.buffer)) == path.stat().st_size
        assert resident_bytes(path) > 0.9 * path.stat().st_size


def test_the_folder_of_a_run_is_to_be_packed(tmp_path: Path) -> None:
    run = tmp_path / "a run"
    run.mkdir()
    with pytest.raises(ModelFileError, match="not a regular file"):
        open_model(run)
    for name in ("configuration.json", "vocabulary.model"):
        (run / name).touch()
    with pytest.raises(ModelFileError) as error:
        open_model(run)
    advice = f"make a model file of it with `pocketmt pack '{run}' --output NAME.pocketmt`"
    assert str(error.value) == f"{run} is the folder of a training run: {advice}"
