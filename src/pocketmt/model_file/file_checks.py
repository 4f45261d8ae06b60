"""Checks of a whole model file: its digest, its tensors against the manifest, and their values."""

import hashlib
from collections.abc import Callable
from typing import Final

from pocketmt.errors import ModelFileError
from pocketmt.model_file.container.header import DIGEST_CHARACTERS, Header
from pocketmt.model_file.known_words import KNOWN_WORDS
from pocketmt.model_file.manifest import CheckedManifest
from pocketmt.model_file.matrices.entropy_coding import coded_name
from pocketmt.model_file.matrices.row_groups import MAXIMUM_GROUPED, StoredRowGroup, groups_layout
from pocketmt.model_file.matrices.sparse import weights_name
from pocketmt.model_file.matrices.stored_form import TensorLayout
from pocketmt.model_file.shortlist import SHORTLIST_TENSOR

HASHED_AT_ONCE: Final = 1 << 20  # bytes


def check_digest(
    buffer: memoryview, raw: memoryview, header: Header, release: Callable[[int, int], None] | None = None
) -> None:
    """Raise ModelFileError unless the digest in a header is that of the file.

    Args:
        buffer: the whole file.
        raw: its JSON header.
        header: the same, parsed.
        release: is given offset and size of each part that was read.
    """
    digest = header.metadata["digest"].encode()
    text = bytes(raw)
    if len(digest) != DIGEST_CHARACTERS or text.count(digest) != 1:
        raise ModelFileError(f"the digest is not {DIGEST_CHARACTERS} characters that stand once in the header")
    start = header.data_start - len(raw) + text.index(digest)
    state = hashlib.sha256(buffer[:start])
    state.update(b"0" * DIGEST_CHARACTERS)
    for begin in range(start + DIGEST_CHARACTERS, len(buffer), HASHED_AT_ONCE):
        state.update(buffer[begin : begin + HASHED_AT_ONCE])
        if release is not None:
            release(begin, min(HASHED_AT_ONCE, len(buffer) - begin))
    if state.hexdigest().encode() != digest:
        raise ModelFileError("the digest does not match: the file was damaged or changed after it was written")


def check_tensors(header: Header, manifest: CheckedManifest) -> None:
    """Raise ModelFileError unless the file has exactly the tensors that its manifest asks for, in dtype and shape."""
    expected = {**manifest.tensors, **_group_tensors(header, manifest)}
    of_any_size = dict.fromkeys(manifest.vocabularies.tensors, "U8") | {
        weights_name(name): "F32" for name in manifest.sparse
    }
    if manifest.shortlist is not None:
        of_any_size[SHORTLIST_TENSOR] = "U8"
    if manifest.known_words is not None:
        of_any_size[KNOWN_WORDS] = "U8"
    for coded in coded_tensors(header, manifest):
        del expected[coded]
        of_any_size[coded_name(coded)] = "U8"
    for name, (dtype, shape) in expected.items():
        entry = header.tensors.get(name)
        if entry is None:
            raise ModelFileError(f"tensor {name!r} is missing")
        if (entry.dtype, entry.shape) != (dtype, shape):
            raise ModelFileError(
                f"tensor {name!r} is {entry.dtype} of shape {list(entry.shape)}, expected {dtype} of {list(shape)}"
            )
    for name, dtype in of_any_size.items():
        entry = header.tensors.get(name)
        if entry is None:
            raise ModelFileError(f"tensor {name!r} is missing")
        if entry.dtype != dtype or len(entry.shape) != 1:
            raise ModelFileError(f"tensor {name!r} is not a row of {dtype}")
    for name in header.tensors:
        if name not in expected and name not in of_any_size:
            raise ModelFileError(f"tensor {name!r:.120} is not part of this architecture")


def coded_tensors(header: Header, manifest: CheckedManifest) -> dict[str, StoredRowGroup]:
    """Return the row groups of the code tensors that the file holds entropy-coded, by the names of the tensors."""
    found: dict[str, StoredRowGroup] = {}
    if manifest.entropy_coded:
        for matrix, groups in manifest.matrices.items():
            names = [f"{matrix}.{index}.{group.form.code_tensor}" for index, group in enumerate(groups)]
            found |= {
                name: group for name, group in zip(names, groups, strict=True) if coded_name(name) in header.tensors
            }
    return found


def _group_tensors(header: Header, manifest: CheckedManifest) -> dict[str, TensorLayout]:
    """Return the layouts of the optional tensors with the group of each row, if the file has them."""
    layouts = {}
    for matrix, groups in manifest.matrices.items():
        if (name := f"{matrix}.groups") in header.tensors:
            if not 1 < len(groups) <= MAXIMUM_GROUPED:
                raise ModelFileError(f"tensor {name!r} is for 2 to {MAXIMUM_GROUPED} row groups, not for {len(groups)}")
            layouts[name] = groups_layout(len(groups), sum(group.rows for group in groups))
    return layouts
