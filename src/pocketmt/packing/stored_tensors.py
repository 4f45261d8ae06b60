"""The tensors of a model file that is written again with another part."""

from pocketmt.model_file import ModelFile
from pocketmt.model_file.writer import StoredTensor


def other_tensors(file: ModelFile, replaced: str) -> dict[str, StoredTensor]:
    """Return the stored tensors of an open file, without its vocabulary and the tensor that is replaced."""
    return {
        name: StoredTensor(entry.dtype, entry.shape, bytes(file.buffer[entry.offset : entry.offset + entry.size]))
        for name, entry in file.tensors.items()
        if name not in (*file.vocabulary_tensors, replaced)
    }
