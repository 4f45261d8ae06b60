"""Shortlists of model files: learnt from parallel text, read from a file, and added to a file."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pocketmt.cores import available_cores
from pocketmt.engine import Translator
from pocketmt.engine.copied_lines import CopiedLines
from pocketmt.errors import DataError, ModelFileError
from pocketmt.model_file import open_model
from pocketmt.model_file.container.xz_tensor import compress
from pocketmt.model_file.shortlist import SHORTLIST_TENSOR
from pocketmt.model_file.shortlist_encoding import (
    ListedSides,
    Shortlist,
    encode_shortlist,
    listed_sides,
)
from pocketmt.model_file.writer import StoredTensor, write_model
from pocketmt.packing.stored_shortlist import shortlist_of
from pocketmt.packing.stored_tensors import other_tensors
from pocketmt.progress import Progress, no_progress
from pocketmt.text.corpus import check_rereadable, read_lines, read_pairs
from pocketmt.text.pair_chunks import PairChunks
from pocketmt.text.shortlist import choose_pieces, encode_pairs, read_links
from pocketmt.text.translation_table import ITERATIONS, count_links, estimate

FEW_PAIRS: Final = 10_000  # from fewer, most pieces have no list, or one that lacks common translations
TRANSLATED_TOGETHER: Final = 1_000  # lines, between reports of progress


def learn_shortlist(
    model: Path,
    source: Path,
    target: Path,
    *,
    top_k: int,
    frequent: int,
    alignments: Path | None = None,
    iterated: Progress = no_progress,
    warn: Callable[[str], None] = lambda message: None,
) -> Shortlist:
    """Learn a shortlist for a model's vocabulary from parallel text, by IBM model 1 or by given alignments.

    Args:
        model: a model file.
        source, target: parallel text: the training text, or translations by the model's teacher.
        top_k: number of the most probable targets of each source piece, at most 255.
        frequent: number of the most frequent pieces, which are in the list of every sentence.
        alignments: of the words of the text (see `read_links`); None: IBM model 1.
        iterated: called with the number of iterations that are done, and of all.
        warn: told if there are few sentence pairs.

    Raises:
        DataError: text or alignments cannot be read, or their lines are not parallel.
        ModelFileError: the model file cannot be read.
    """
    if alignments is not None:
        check_rereadable(source)
        check_rereadable(target)
    with open_model(model) as file:
        vocabularies, sides = file.vocabularies(), listed_sides(file.architecture)
        languages = file.source_language, file.target_language
    size = sides.target_size
    with PairChunks(encode_pairs(vocabularies, read_pairs(source, target, languages)), size) as chunks:
        if chunks.pairs < FEW_PAIRS:
            warn(
                f"{source} has fewer than {FEW_PAIRS:,} sentence pairs ({chunks.pairs:,}): with this shortlist, "
                "translations may lack many words. Give more text, such as the training text, and measure recall on "
                "other text with --recall-source and --recall-target"
            )
        if alignments is None:
            table = estimate(chunks, size, ITERATIONS, iterated)
        else:
            pairs = read_pairs(source, target, languages)
            table = count_links(read_links(alignments, vocabularies, pairs), size)
        chosen = choose_pieces(table, chunks.target_counts, top_k, frequent, vocabularies)
        return Shortlist(*chosen, sides).without_repetition()


def translate_source(
    model: Path,
    source: Path,
    folder: Path,
    beam_size: int,
    progress: Progress = no_progress,
    warn: Callable[[str], None] = lambda message: None,
) -> Path:
    """Return a file in a folder with the model's own translations of plain source text, to learn a shortlist from.

    `warn` is told how many lines were copied instead of translated.

    Raises DataError if the text cannot be read twice, and as `Translator` does.
    """
    check_rereadable(source)  # `learn_shortlist` reads it again.
    lines = list(read_lines(source))
    translator = Translator(model, workers=available_cores())
    with open_model(model) as file:
        copied = CopiedLines(file.vocabularies(), translator.languages, translator.unit)
    target = folder / "translations"
    with target.open("w", encoding="utf-8") as stream:
        for start in range(0, len(lines), TRANSLATED_TOGETHER):
            some = lines[start : start + TRANSLATED_TOGETHER]
            translations = translator.translate(some, beam_size=beam_size, protect=False, check=False)
            stream.writelines(f"{text}\n" for text in translations)
            for line, translation in zip(some, translations, strict=True):
                copied.add(line, translation)
            progress(min(start + TRANSLATED_TOGETHER, len(lines)), len(lines))
    copied.report(str(source), "remove or divide such lines", warn)
    return target


def held_shortlist(model: Path, of: Path | None = None) -> Shortlist:
    """Return the shortlist of a model file.

    Args:
        model: the model file.
        of: another model file, which must have the same vocabulary.

    Raises:
        DataError: the file has no shortlist, or the vocabularies differ.
        ModelFileError: a file is not a model file, or is damaged.
    """
    with open_model(model) as file:
        if of is not None:
            with open_model(of) as other:
                if other.stored_vocabularies() != file.stored_vocabularies():
                    raise DataError(
                        f"{model}: its shortlist is for another vocabulary than that of {of}: learn one from text"
                    )
        shortlist = shortlist_of(file)
        if shortlist is None:
            raise DataError(f"{model}: holds no shortlist: learn one from text, `pocketmt shortlist --help` says how")
        return shortlist


def add_shortlist(model: Path, shortlist: Shortlist, output: str | os.PathLike[str]) -> int:
    """Write a model file with this shortlist, which replaces an older one; returns the size of the new file in bytes.

    Raises:
        ModelFileError: the model file cannot be read, the shortlist is for another vocabulary, or the output cannot be
            written.
    """
    with open_model(model) as file:
        sides = listed_sides(file.architecture)
        if shortlist.sides != sides:
            raise ModelFileError(
                f"{model}: its vocabulary has {_sizes(sides)} pieces, the shortlist is for "
                f"{_sizes(shortlist.sides)}: learn one for this model"
            )
        content, stored = encode_shortlist(shortlist)
        compressed = compress(content)
        tensors = other_tensors(file, SHORTLIST_TENSOR) | {
            SHORTLIST_TENSOR: StoredTensor("U8", (len(compressed),), compressed)
        }
        manifest = file.manifest | {"shortlist": stored.to_json()}
        return write_model(output, manifest, tensors, file.stored_vocabularies())


def _sizes(sides: ListedSides) -> str:
    return " and ".join(dict.fromkeys(f"{size}" for size in (sides.source_size, sides.target_size)))
