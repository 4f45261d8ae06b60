"""Ids of every line of all texts beside those of the original tokenizers, which must be equal.

    python -m benchmarks.tokenizers

The originals are transformers' MarianTokenizer, for the OPUS-MT folders of the corpora, and SentencePiece itself, for
the vocabularies of Firefox's models. benchmarks/records/tokenizers.json has a row for each tokenizer and text: its
lines, and on how many the ids of the source's and the target's vocabulary differ, and the text of the target's ids.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import sentencepiece

from benchmarks.command import run
from benchmarks.data import corpus, data_folder
from benchmarks.record_files import write_record
from pocketmt.evaluation.records import provenance
from pocketmt.text.stored_vocabulary import SpecialIds, StoredVocabularies, StoredVocabulary
from pocketmt.text.vocabulary import Vocabularies, Vocabulary, load_vocabularies

RECORD: Final = Path(__file__).parent / "records" / "tokenizers.json"
OPUS_MT: Final = "opus-mt"
BERGAMOT: Final = "bergamot"
SPECIAL: Final = ("</s>", "<unk>", "<pad>")

Encode = Callable[[str], list[int]]
Decode = Callable[[list[int]], str]


@dataclass(frozen=True)
class Pair:
    """An original tokenizer and ours, of each side: text to ids with eos, and ids of the target to text."""

    name: str
    source: tuple[Encode, Encode]
    target: tuple[Encode, Encode]
    decoding: tuple[Decode, Decode]


def opus_mt_vocabularies(folder: Path) -> Vocabularies:
    """Return the vocabularies of an OPUS-MT folder."""
    ids: dict[str, int] = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    pieces = [""] * (max(ids.values()) + 1)
    for piece, id in ids.items():
        pieces[id] = piece
    special = SpecialIds(ids["<pad>"], None, ids["</s>"], ids["<unk>"])
    sides = (
        StoredVocabulary((folder / name).read_bytes(), tuple(pieces), "none", SPECIAL, language_codes=True)
        for name in ("source.spm", "target.spm")
    )
    return load_vocabularies(StoredVocabularies(*sides), special, special)


def opus_mt_pair(folder: Path) -> Pair:
    """Return MarianTokenizer beside ours."""
    from transformers import MarianTokenizer

    original: Any = MarianTokenizer.from_pretrained(folder)
    own = opus_mt_vocabularies(folder)
    return Pair(
        folder.name,
        (lambda line: original(line).input_ids, _with_eos(own.source)),
        (lambda line: original(text_target=line).input_ids, _with_eos(own.target)),
        (
            lambda ids: original.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False),
            own.target.decode,
        ),
    )


def firefox_pair(path: Path) -> Pair:
    """Return SentencePiece beside ours, for a vocabulary of both sides."""
    original = sentencepiece.SentencePieceProcessor(model_file=str(path))
    eos = original.eos_id()
    own = Vocabulary(
        StoredVocabulary(path.read_bytes(), normalization="none"), SpecialIds(None, None, eos, original.unk_id())
    )
    encode: tuple[Encode, Encode] = (lambda line: [*original.EncodeAsIds(line), eos], _with_eos(own))
    return Pair(path.name, encode, encode, (original.DecodeIds, own.decode))


def pairs() -> Iterator[Pair]:
    """Yield every original tokenizer of the corpora beside ours."""
    for folder in sorted(each for each in corpus(OPUS_MT).iterdir() if each.is_dir()):
        yield opus_mt_pair(folder)
    for path in sorted(corpus(BERGAMOT).glob("*.spm")):
        yield firefox_pair(path)


def texts() -> list[Path]:
    """Return the files of all corpora that are text."""
    others = (OPUS_MT, BERGAMOT)
    return [path for path in sorted(data_folder().glob("*/*")) if path.is_file() and path.parent.name not in others]


def lines_of(path: Path, step: int = 1) -> list[str]:
    """Return each `step`-th line of a text."""
    return path.read_text(encoding="utf-8").split("\n")[::step]


def differences(pair: Pair, lines: Sequence[str]) -> dict[str, int]:
    """Return on how many lines the two differ: source ids, target ids, and decoded target ids."""
    ids = [pair.target[1](line) for line in lines]
    return {
        "source": _count(pair.source, lines),
        "target": _count(pair.target, lines),
        "decoded": _count(pair.decoding, ids),
    }


def main(arguments: Sequence[str]) -> int:
    """Compare all lines; returns 1 if any differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step", type=int, default=1, help="compare each STEP-th line (default: all)")
    parser.add_argument("--output", type=Path, default=RECORD)
    options = parser.parse_args(arguments)
    rows: list[dict[str, Any]] = []
    for pair in pairs():
        for path in texts():
            lines = lines_of(path, options.step)
            found = differences(pair, lines)
            rows.append(
                {"tokenizer": pair.name, "text": f"{path.parent.name}/{path.name}", "lines": len(lines), **found}
            )
            print(f"{pair.name}, {rows[-1]['text']}: {len(lines):,} lines, differences {found}", flush=True)
    total = {name: sum(row[name] for row in rows) for name in ("lines", "source", "target", "decoded")}
    write_record({"provenance": provenance(), "step": options.step, "total": total, "rows": rows}, options.output)
    return 1 if total["source"] or total["target"] or total["decoded"] else 0


def _with_eos(vocabulary: Vocabulary) -> Encode:
    return lambda line: [*vocabulary.encode(line), vocabulary.ids.eos]


def _count(both: tuple[Callable[[Any], Any], Callable[[Any], Any]], inputs: Iterable[Any]) -> int:
    original, own = both
    return sum(1 for each in inputs if original(each) != own(each))


if __name__ == "__main__":
    sys.exit(run(main))
