"""Other toolkits' runtimes, which translate lines with a folder that `pocketmt export` wrote."""

import importlib
import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.data import ROOT
from benchmarks.four_engines.run_engine import ctranslate2_tokenizers, fxtranslate
from benchmarks.other_engines import BERGAMOT
from pocketmt.errors import ConfigurationError

MARIAN_PYTHON: Final = ROOT / "build" / "marian" / "bin" / "python"
BATCH: Final = 32  # lines translated together
LONGEST: Final = 256  # target pieces

# Translates lines with the model of a folder and a beam size.
Translate = Callable[[Path, Sequence[str], int], list[str]]


@dataclass(frozen=True)
class Runtime:
    """A runtime, and the format of the folders that it reads."""

    name: str
    format: str  # as `pocketmt export --to` names it
    precision: str
    beam_sizes: tuple[int, ...]
    translate: Translate


def with_transformers(folder: Path, lines: Sequence[str], beam_size: int) -> list[str]:
    """Translate by Hugging Face's transformers in float32, line by line."""
    import torch
    import transformers

    torch.set_num_threads(1)
    model: Any = transformers.MarianMTModel.from_pretrained(folder)
    model.eval()
    tokenizer: Any = transformers.MarianTokenizer.from_pretrained(folder)
    texts: list[str] = []
    for line in lines:
        inputs = tokenizer([line], return_tensors="pt")
        with torch.inference_mode():
            ids = model.generate(**inputs, num_beams=beam_size, do_sample=False, max_length=LONGEST)
        texts += tokenizer.batch_decode(ids, skip_special_tokens=True)
    return texts


def with_ctranslate2(compute_type: str) -> Translate:
    """Return the translation by CTranslate2 with one thread in a compute type."""

    def translate(folder: Path, lines: Sequence[str], beam_size: int) -> list[str]:
        module: Any = importlib.import_module("ctranslate2")
        translator = module.Translator(str(folder), compute_type=compute_type, inter_threads=1, intra_threads=1)
        source, target = ctranslate2_tokenizers(folder)
        results = translator.translate_batch(
            source.encode(list(lines), out_type=str), beam_size=beam_size, max_batch_size=BATCH, disable_unk=True
        )
        return [target.decode_pieces(result.hypotheses[0]) for result in results]

    return translate


def with_marian(folder: Path, lines: Sequence[str], beam_size: int) -> list[str]:
    """Translate by Marian in float32, in the environment of `make marian`; ConfigurationError if there is none."""
    return [line["text"] for line in marian_lines(folder, lines, beam_size)]


def marian_lines(folder: Path, lines: Sequence[str], beam_size: int) -> list[dict[str, Any]]:
    """Return Marian's best translations with their scores: log-probabilities divided by the length.

    A translation has at most three times the pieces of its source.
    """
    if not MARIAN_PYTHON.exists():
        raise ConfigurationError("Marian is not installed: run `make marian`")
    command = [str(MARIAN_PYTHON), str(Path(__file__).with_name("run_marian.py")), str(folder)]
    return _json_lines([*command, str(beam_size)], lines)


def with_bergamot(folder: Path, lines: Sequence[str], beam_size: int) -> list[str]:
    """Translate by bergamot's WebAssembly in Node; ConfigurationError if it is not installed."""
    node = shutil.which("node")
    if node is None or not BERGAMOT.is_dir():
        raise ConfigurationError("bergamot needs Node, and `make bergamot`")
    script = ROOT / "benchmarks" / "four_engines" / "run_bergamot.mjs"
    return [each["text"] for each in _json_lines([node, str(script), str(BERGAMOT), str(folder)], lines)[:-1]]


def with_fxtranslate(folder: Path, lines: Sequence[str], beam_size: int) -> list[str]:
    """Translate by fxtranslate."""
    translate = fxtranslate(folder)
    return [translate(line) for line in lines]


def _json_lines(command: Sequence[str], lines: Sequence[str]) -> list[dict[str, Any]]:
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode:
        raise ConfigurationError(f"{command[1]} failed: {done.stderr.strip()[-500:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


# Runtimes of a Transformer as CTranslate2 and transformers have it, and of a student as Marian has it.
TRANSFORMER: Final = (
    Runtime("transformers", "hugging-face", "float32", (1, 4), with_transformers),
    Runtime("CTranslate2", "ctranslate2", "float32", (1, 4), with_ctranslate2("float32")),
    Runtime("CTranslate2", "ctranslate2", "int8", (1, 4), with_ctranslate2("int8")),
)
STUDENT: Final = (
    Runtime("Marian", "marian", "float32", (1, 4), with_marian),
    Runtime("bergamot", "bergamot", "int8", (1,), with_bergamot),
    Runtime("fxtranslate", "bergamot", "int8", (1,), with_fxtranslate),
)
