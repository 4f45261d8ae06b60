"""Checkpoints of runs, files of weights, and averages of the last snapshots; all are written atomically."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save
from torch import Tensor

from pocketmt.atomic_file import atomic_write
from pocketmt.errors import DataError, unreadable

Weights = dict[str, Tensor]
_LENGTH_BYTES: Final = 8  # of a safetensors file, before its header


def save_checkpoint(path: Path, state: Mapping[str, Any]) -> None:
    """Save the state from which a run resumes."""
    with atomic_write(path) as stream:
        recording = _RecordingStream(stream)
        try:
            torch.save(dict(state), cast(BinaryIO, recording))
        except RuntimeError as error:
            raise recording.error or error from error


class _RecordingStream:
    """A stream that keeps the error of a write, such as a full disk, for which PyTorch raises a RuntimeError."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.error: OSError | None = None

    def write(self, data: bytes) -> int:
        try:
            return self._stream.write(data)
        except OSError as error:
            self.error = error
            raise

    def flush(self) -> None:
        self._stream.flush()


def load_checkpoint(path: Path) -> dict[str, Any]:
    """Load a checkpoint without running code from the file; DataError if it cannot be read or is not a checkpoint."""
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise DataError(unreadable(path, error)) from error
    except Exception as error:  # Whose text advises to run code from the file.
        message = f"{path}: not a checkpoint of PocketMT, or damaged: remove it to start the run again"
        raise DataError(message) from error
    return state


def save_weights(path: Path, weights: Weights, metadata: Mapping[str, Any]) -> None:
    """Save weights as safetensors, with metadata values as JSON; the same arguments give the same bytes."""
    text = {name: json.dumps(value) for name, value in metadata.items()}
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in weights.items()}
    data = save(tensors, text)  # `save_file` would write a file that only its owner can read.
    with atomic_write(path) as stream:
        stream.write(_with_sorted_metadata(data))


def _with_sorted_metadata(data: bytes) -> bytes:
    """Return a safetensors file with its metadata sorted by name: the library writes them in a random order."""
    start = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")
    entries = json.loads(data[_LENGTH_BYTES:start])
    if "__metadata__" in entries:
        entries["__metadata__"] = dict(sorted(entries["__metadata__"].items()))
    header = json.dumps(entries, separators=(",", ":")).encode()
    header += b" " * (-len(header) % _LENGTH_BYTES)  # Tensors begin at a multiple of 8 bytes.
    return len(header).to_bytes(_LENGTH_BYTES, "little") + header + data[start:]


def load_weights(path: Path) -> tuple[Weights, dict[str, Any]]:
    """Return the weights and the metadata that `save_weights` saved; DataError if the file cannot be used."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = {name: json.loads(value) for name, value in (file.metadata() or {}).items()}
        return load_file(path), metadata
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file: has `pocketmt train` reached its first validation?") from error
    except Exception as error:
        raise DataError(f"{path}: not a weights file ({error}): train the model by `pocketmt train`") from error


class Snapshots:
    """A folder with the weights of the last validations; their average is validated and kept."""

    def __init__(self, folder: Path, keep: int) -> None:
        """Use `folder`, created if it is missing, and average the last `keep` snapshots."""
        self.folder = folder
        self.keep = keep
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, update: int, weights: Weights) -> Weights:
        """Save the weights of an update and return the average of the last snapshots."""
        save_weights(self.folder / f"{update:08d}.safetensors", weights, {"update": update})
        return self.average(update)

    def average(self, until: int) -> Weights:
        """Return the mean of the last snapshots up to an update (Vaswani et al. 2017, section 6.1)."""
        paths = [path for path in sorted(self.folder.glob("*.safetensors")) if int(path.stem) <= until][-self.keep :]
        total: Weights = {}
        for path in paths:
            for name, tensor in load_file(path).items():
                total[name] = tensor.double() if name not in total else total[name] + tensor
        return {name: (tensor / len(paths)).float() for name, tensor in total.items()}

    def remove_unneeded(self, update: int) -> None:
        """Remove snapshots that averages after `update` do not need, and later ones, which a killed run has left."""
        paths = sorted(self.folder.glob("*.safetensors"))
        later = [path for path in paths if int(path.stem) > update]
        old = [path for path in paths if int(path.stem) <= update][: -self.keep]
        for path in [*later, *old]:
            path.unlink()
