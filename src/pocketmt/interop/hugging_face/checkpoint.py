"""The tensors of a Hugging Face folder, in one file or in several with an index."""

from pathlib import Path
from typing import Final

from pocketmt.errors import InteropError
from pocketmt.interop.foreign_tensor import ForeignTensor
from pocketmt.interop.hugging_face.json_file import read_json
from pocketmt.interop.hugging_face.pytorch_file import read_pytorch
from pocketmt.interop.hugging_face.safetensors_file import read_safetensors

_READERS: Final = {
    ("model.safetensors", "model.safetensors.index.json"): read_safetensors,
    ("pytorch_model.bin", "pytorch_model.bin.index.json"): read_pytorch,
}


def read_checkpoint(folder: Path) -> dict[str, ForeignTensor]:
    """Return the tensors of a folder by name; safetensors files have precedence.

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
        files = {}
        for file in sorted(set(places.values())):
            if Path(file).name != file or not (folder / file).is_file():
                raise InteropError(f"{folder / index}: names {file!r:.120}, which is no file of this folder")
            files[file] = read(folder / file)
        if lacking := [name for name, file in places.items() if name not in files[file]]:
            raise InteropError(f"{folder / places[lacking[0]]}: lacks tensor {lacking[0]!r:.120} of the index")
        return {name: files[file][name] for name, file in places.items()}
    raise InteropError(f"{folder}: has neither model.safetensors nor pytorch_model.bin: download one of them")
