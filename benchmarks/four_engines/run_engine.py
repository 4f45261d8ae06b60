"""The child process of an engine of Python: translates lines of standard input one by one, as run_bergamot.mjs does.

python -m benchmarks.four_engines.run_engine ENGINE FOLDER < TEXT
"""

import importlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Translate = Callable[[str], str]


def pocketmt(folder: Path) -> Translate:
    """PocketMT's engine with one thread."""
    from pocketmt.engine import Translator

    translator = Translator(folder / "model.pocketmt", workers=1)
    return lambda line: translator.translate([line], beam_size=1, split=False, check=False)[0]


def fxtranslate(folder: Path) -> Translate:
    """The engine in Rust."""
    module: Any = importlib.import_module("fxtranslate")
    names = ("vocab.spm",) * 2 if (folder / "vocab.spm").exists() else ("srcvocab.spm", "trgvocab.spm")
    lists = [(folder / "lex.bin").read_bytes()] if (folder / "lex.bin").exists() else []
    vocabularies = [(folder / name).read_bytes() for name in names]
    translator = module.Translator((folder / "model.bin").read_bytes(), *vocabularies, *lists)
    translate: Translate = translator.translate
    return translate


def ctranslate2(folder: Path) -> Translate:
    """CTranslate2 in 8 bits with one thread."""
    module: Any = importlib.import_module("ctranslate2")
    translator = module.Translator(str(folder), compute_type="int8", inter_threads=1, intra_threads=1)
    source, target = ctranslate2_tokenizers(folder)

    def translate(line: str) -> str:
        (result,) = translator.translate_batch([source.EncodeAsPieces(line)], beam_size=1, disable_unk=True)
        text: str = target.DecodePieces(result.hypotheses[0])
        return text

    return translate


def ctranslate2_tokenizers(folder: Path) -> tuple[Any, Any]:
    """Return the SentencePiece processors of both sides of a folder that `pocketmt export --to ctranslate2` wrote."""
    import sentencepiece

    shared = (folder / "sentencepiece.model").exists()
    names = ("sentencepiece.model",) * 2 if shared else ("source.spm", "target.spm")
    source, target = (sentencepiece.SentencePieceProcessor(model_file=str(folder / name)) for name in names)
    return source, target


ENGINES = {"PocketMT": pocketmt, "fxtranslate": fxtranslate, "CTranslate2": ctranslate2}


def main() -> None:
    """Translate all lines."""
    begin = time.perf_counter()
    translate = ENGINES[sys.argv[1]](Path(sys.argv[2]))
    load = time.perf_counter() - begin
    for line in sys.stdin.read().removesuffix("\n").split("\n"):
        begin = time.perf_counter()
        text = translate(line)
        print(json.dumps({"text": text, "seconds": time.perf_counter() - begin}))
    print(json.dumps({"load": load, "memory": peak_memory()}))


def peak_memory() -> int:
    """Return the most bytes of memory that this process had; getrusage would count its parent's, too."""
    status = Path("/proc/self/status").read_text()
    return 1024 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))


if __name__ == "__main__":
    main()
