"""Checkpoints that are whole or not there, snapshots of weights and their average."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save
from torch import Tensor

from pocketmt.errors import ConfigurationError, DataError
from pocketmt.whole_file import write_whole

Weights = dict[str, Tensor]


def claim_folder(folder: Path, name: str, settings: msgspec.Struct, other: str) -> None:
    """Write the settings that a folder's run is made by into its file `name`, or check that they are the ones there.

    What the file does not say is at its default: a setting that is newer than the folder does not make it another's.
    Raises ConfigurationError, saying that the folder holds a `other`, where they are not.
    """
    file = folder / name
    if not file.exists():
        with write_whole(file) as stream:
            stream.write(msgspec.json.format(msgspec.json.encode(settings), indent=2))
    elif _read_settings(file, type(settings)) != settings:
        raise ConfigurationError(
            f"{folder} holds a {other} (see {file}): choose another folder, or remove this one to start anew"
        )


def _read_settings(file: Path, kind: type[msgspec.Struct]) -> msgspec.Struct | None:
    """Return settings of a kind; None where the file holds none."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except msgspec.DecodeError:
        return None


def save_checkpoint(path: Path, state: Mapping[str, Any]) -> None:
    """Save everything that a run needs to go on."""
    with write_whole(path) as stream:
        torch.save(dict(state), stream)


def load_checkpoint(path: Path) -> dict[str, Any]:
    """Load what `save_checkpoint` saved; runs no code of the file."""
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise DataError(f"{path}: not a checkpoint of PocketMT ({error}): remove it to start the run anew") from error
    return state


def save_weights(path: Path, weights: Weights, metadata: Mapping[str, Any]) -> None:
    """Save weights as safetensors, metadata values as JSON."""
    text = {name: json.dumps(value) for name, value in metadata.items()}
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in weights.items()}
    data = save(tensors, text)  # `save_file` would make a file that its owner alone may read
    with write_whole(path) as stream:
        stream.write(data)


def load_weights(path: Path) -> tuple[Weights, dict[str, Any]]:
    """Load what `save_weights` saved: (weights, metadata)."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = {name: json.loads(value) for name, value in (file.metadata() or {}).items()}
        return load_file(path), metadata
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file: has `pocketmt train` reached its first validation?") from error
    except Exception as error:
        raise DataError(f"{path}: not a file of weights ({error})") from error


class Snapshots:
    """The weights of the last validations, in a folder of their own; their average is what is validated and kept."""

    def __init__(self, folder: Path, keep: int) -> None:
        """Use `folder`; the last `keep` snapshots are averaged, older ones removed."""
        self.folder = folder
        self.keep = keep
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, update: int, weights: Weights) -> Weights:
        """Save the weights of an update and return the average of the last ones."""
        save_weights(self.folder / f"{update:08d}.safetensors", weights, {"update": update})
        return self.average(update)

    def average(self, until: int) -> Weights:
        """Mean of the last snapshots up to an update (Vaswani et al. 2017, section 6.1)."""
        paths = [path for path in sorted(self.folder.glob("*.safetensors")) if int(path.stem) <= until][-self.keep :]
        total: Weights = {}
        for path in paths:
            for name, tensor in load_file(path).items():
                total[name] = tensor.double() if name not in total else total[name] + tensor
        return {name: (tensor / len(paths)).float() for name, tensor in total.items()}

    def forget(self, update: int) -> None:
        """Remove those that no average after `update` will need, and those later than it (of a run that was killed)."""
        paths = sorted(self.folder.glob("*.safetensors"))
        later = [path for path in paths if int(path.stem) > update]
        old = [path for path in paths if int(path.stem) <= update][: -self.keep]
        for path in [*later, *old]:
            path.unlink()
