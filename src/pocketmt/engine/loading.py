"""From a model file to a native model and its vocabulary."""

import mmap
import os
from collections.abc import Callable
from functools import partial

from pocketmt.engine import _native
from pocketmt.errors import DataError, ModelFileError
from pocketmt.model_file import Architecture, LstmArchitecture, ModelFile, TransformerArchitecture, open_model
from pocketmt.model_file.entropy_coding import coded_name
from pocketmt.model_file.products import Products
from pocketmt.model_file.sparse import weights_name
from pocketmt.text.vocabulary import Vocabulary


def load_model(
    path: str | os.PathLike[str], workers: int, pin_workers: bool, instruction_set: str | None
) -> tuple[_native.Model, Vocabulary, dict[str, object]]:
    """Open a model file and pack its weights; returns the model, its vocabulary and the manifest.

    Raises:
        ModelFileError: where the file is broken.
        EngineError: where the CPU lacks the instruction set or cores to pin to, or a kernel fails its self-check.
    """
    with open_model(path) as file:
        try:
            vocabulary = Vocabulary.from_bytes(file.vocabulary())
            _check_size(vocabulary, file.architecture)
            model = native_model(file, workers, instruction_set, pin_workers)
        except (DataError, ModelFileError) as error:
            raise ModelFileError(
                f"{os.fspath(path)}: {error}. Copy or download the file again, or pack it anew"
            ) from error
        return model, vocabulary, file.manifest


def native_model(
    file: ModelFile, workers: int = 1, instruction_set: str | None = None, pin_workers: bool = False
) -> _native.Model:
    """Pack the weights of an open model file; raises ModelFileError and EngineError."""
    release = _page_release(file.buffer)
    if release is not None:
        release(0, len(file.buffer))  # packing takes memory of its own, which pages that were checked make room for
    return _native.Model(
        buffer=file.buffer,
        architecture=native_architecture(file.architecture),
        tensors=_tensors(file),
        decoders={name: partial(file.data, name) for name in (*file.coded, *file.sparse)},
        matrices={
            name: [(group.scheme, group.bits, group.granularity, group.levels or (), group.rows) for group in groups]
            for name, groups in file.matrices.items()
        },
        stacks=list(file.stacks.items()),
        products=(file.products.top, file.products.scale) if isinstance(file.products, Products) else None,
        release=release,
        instruction_set=instruction_set,
        workers=workers,
        pin_workers=pin_workers,
        activation_bits=0 if file.activations is None else file.activations.bits,
        shortlist=file.shortlist(),
        frequent_pieces=0 if file.stored_shortlist is None else file.stored_shortlist.frequent,
    )


def _tensors(file: ModelFile) -> dict[str, tuple[str, tuple[int, ...], int, int]]:
    """Return what the engine asks for; a coded or sparse tensor has dtype and shape decoded, and its stream's place."""
    places = {name: (entry.dtype, entry.shape, entry.offset, entry.size) for name, entry in file.tensors.items()}
    for name in file.coded:
        _, _, offset, size = places.pop(coded_name(name))
        places[name] = (*file.form(name), offset, size)
    for name in file.sparse:
        _, _, offset, size = places.pop(weights_name(name))
        places[name] = (*file.form(name), offset, size)
    return places


def native_architecture(architecture: Architecture) -> _native.Architecture:
    """Return the sizes of a network as the native module has them."""
    if isinstance(architecture, LstmArchitecture):
        return _native.Architecture.lstm(
            encoder_layers=architecture.encoder_layers,
            decoder_layers=architecture.decoder_layers,
            model_dimension=architecture.model_dimension,
            recurrent_dimension=architecture.recurrent_dimension,
            heads=architecture.attention_heads,
            head_size=architecture.attention_dimension // architecture.attention_heads,
            vocabulary_size=architecture.vocabulary_size,
        )
    assert isinstance(architecture, TransformerArchitecture)
    encoder, decoder = architecture.encoder_sizes(), architecture.decoder_sizes()
    return _native.Architecture(
        encoder=[(sizes.heads, sizes.cross_heads, sizes.feed_forward) for sizes in encoder],
        decoder=[(sizes.heads, sizes.cross_heads, sizes.feed_forward) for sizes in decoder],
        decoder_rounds=architecture.decoder_layers // len(decoder),
        model_dimension=architecture.model_dimension,
        head_size=architecture.head_size,
        norm=architecture.norm,
        attention_bias=architecture.attention_bias,
        vocabulary_size=architecture.vocabulary_size,
    )


def _check_size(vocabulary: Vocabulary, architecture: Architecture) -> None:
    if len(vocabulary) != architecture.vocabulary_size:
        raise ModelFileError(
            f"the vocabulary has {len(vocabulary)} pieces, the embedding {architecture.vocabulary_size} rows"
        )


def _page_release(buffer: memoryview) -> Callable[[int, int], None] | None:
    """A function that lets go of the mapped pages within (offset, size): what is packed is not in memory twice."""
    mapped = buffer.obj
    if not isinstance(mapped, mmap.mmap) or not hasattr(mmap, "MADV_DONTNEED"):
        return None

    def release(offset: int, size: int) -> None:
        start = -(-offset // mmap.PAGESIZE) * mmap.PAGESIZE
        end = (offset + size) // mmap.PAGESIZE * mmap.PAGESIZE
        if end > start:
            mapped.madvise(mmap.MADV_DONTNEED, start, end - start)

    return release
