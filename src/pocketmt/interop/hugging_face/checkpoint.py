"""The tensors of a Hugging Face folder, in one file or in several with an index."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pocketmt.errors import InteropError
from pocketmt.interop.hugging_face.json_file import read_json
from pocketmt.interop.hugging_face.pytorch_file import read_pytorch
from pocketmt.interop.hugging_face.safetensors_file import read_safetensors
from pocketmt.interop.hugging_face.tensors import TensorsByName

_READERS: Final = {
    ("model.safetensors", "model.safetensors.index.json"): read_safetensors,
    ("pytorch_model.bin", "pytorch_model.bin.index.json"): read_pytorch,
}


def read_checkpoint(folder: Path) -> TensorsByName:
    """Return the tensors of a folder; safetensors files have precedence.

    Raises InteropError as the readers of files do, or if an index names a file that is missing, or a tensor that its
    file lacks.
    """
    for (single, index), read in _READERS.items():
        if (folder / single).is_file():
            return read(folder / single)
        if not (folder / index).is_file():
            continue
        places = read_json(folder / index).get("weight_map")
        if not isinstance(places, dict) or not all(isinstance(file, str) for file in places.values()):
            raise InteropError(f"{folder / index}: weight_map is missing, or not names of files by names of tensors")
        held = {path.name for path in folder.iterdir() if path.is_file()}
        files = {}
        for file in sorted(set(places.values())):
            if file not in held:
                raise InteropError(f"{folder / index}: names {file!r:.120}, which is no file of this folder")
            files[file] = read(folder / file)
        return _of_index(folder, places, files)
    raise InteropError(f"{folder}: has neither model.safetensors nor pytorch_model.bin: download one of them")


def _of_index(folder: Path, places: Mapping[str, str], files: Mapping[str, TensorsByName]) -> TensorsByName:
    """Return the tensors that an index names, of the files that it names."""
    tensors = TensorsByName()
    for name, file in places.items():
        if name in files[file].found:
            tensors.found[name] = files[file].found[name]
        elif name in files[file].other_types:
            tensors.other_types[name] = files[file].other_types[name]
        else:
            raise InteropError(f"{folder / file}: lacks tensor {name!r:.120} of the index")
    return tensors
