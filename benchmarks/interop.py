"""Compares imported models with transformers: ids, greedy tokens and tokens of beam 4 on real sentences.

    pocketmt train benchmarks/interop.toml --output runs/interop
    python -m benchmarks.interop --run runs/interop --sentences 1000

The run is exported to Hugging Face's format, which transformers and `pocketmt import` read. Two more models have random
weights, and the tokenizers and special pieces of OPUS-MT's ($POCKETMT_DATA/opus-mt); these end sentences at once or
never, so that only greedy tokens are compared. Sentences are those of Multi30k.

The beam of transformers' `generate` keeps its size when a hypothesis ends; PocketMT's shrinks, as Marian's does. So
beam search is compared twice: with PocketMT's search on transformers' network, which must give the same tokens, and
with `generate`. Writes benchmarks/records/interop.json. Needs transformers, which is among the development packages.
"""

import argparse
import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks.command import run
from benchmarks.data import corpus
from benchmarks.record_files import write_record
from pocketmt.engine import Translator
from pocketmt.evaluation.records import provenance
from pocketmt.interop.exporting import write_folder
from pocketmt.interop.formats import FORMATS
from pocketmt.interop.importing import import_model
from pocketmt.model_file import open_model
from pocketmt.models.search import default_maximum_length
from pocketmt.packing.foreign import foreign_model_of
from pocketmt.packing.run import pack_run

RECORD = Path(__file__).resolve().parent / "records" / "interop.json"
RANDOM = ("opus-mt-en-mg", "opus-mt-tc-big-fr-en")
BEAM = 4
LONGEST = 24  # tokens of a translation by random weights
SIZES: dict[str, Any] = {
    "d_model": 64,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 128,
    "decoder_ffn_dim": 128,
    "init_std": 0.5,
}


def main(arguments: Sequence[str]) -> int:
    """Compare, and write the record; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, required=True, help="a run of `pocketmt train`, of a post-norm Transformer")
    parser.add_argument("--sentences", type=int, default=1000, help="default: %(default)s")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    options = parser.parse_args(arguments)
    origin = provenance(seed=1)
    warnings.simplefilter("ignore")
    lines = (corpus("multi30k") / "train.en").read_text(encoding="utf-8").splitlines()[: options.sentences]
    with tempfile.TemporaryDirectory() as folder:
        rows = [_compare_trained(options.run, lines, Path(folder))]
        rows += [_compare_random(name, lines, Path(folder)) for name in RANDOM]
    write_record({"rows": rows, "provenance": origin}, options.output)
    for row in rows:
        print(row)
    return 0


def _compare_trained(folder_of_run: Path, lines: Sequence[str], folder: Path) -> dict[str, Any]:
    import transformers

    pack_run(folder_of_run, "float32", folder / "trained.pocketmt")
    with open_model(folder / "trained.pocketmt") as file:
        write_folder(foreign_model_of(file), FORMATS["hugging-face"], folder / "trained")
    model: Any = transformers.MarianMTModel.from_pretrained(folder / "trained")
    model.eval()
    tokenizer: Any = transformers.MarianTokenizer.from_pretrained(folder / "trained")
    translator = _imported(folder / "trained", folder / "again.pocketmt")
    sources = [tokenizer(line).input_ids[:-1] for line in lines]
    ours = translator.translate_ids(sources, beam_size=BEAM)
    row = _greedy_row("trained", model, tokenizer, translator, lines, 256)
    row["same_beam_4"] = _equal(ours, [beam_search(model, source) for source in sources])
    row["same_beam_4_of_generate"] = _equal(ours, [_generate(model, source, BEAM, 256) for source in sources])
    return row


def _compare_random(name: str, lines: Sequence[str], folder: Path) -> dict[str, Any]:
    import transformers

    original = corpus("opus-mt") / name
    tokenizer: Any = transformers.MarianTokenizer.from_pretrained(original)
    torch.manual_seed(1)
    configuration = transformers.MarianConfig.from_pretrained(original, **SIZES)
    model: Any = transformers.MarianMTModel(configuration)
    model.eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.2 * torch.randn_like(parameter))
    model.generation_config.bad_words_ids = [[configuration.pad_token_id]]
    model.save_pretrained(folder / name)
    tokenizer.save_pretrained(folder / name)
    translator = _imported(folder / name, folder / f"{name}.pocketmt")
    return _greedy_row(f"{name}, random weights", model, tokenizer, translator, lines, LONGEST)


def _imported(folder: Path, path: Path) -> Translator:
    import_model(folder, path)
    return Translator(path, workers=2)


def _greedy_row(
    name: str, model: Any, tokenizer: Any, translator: Translator, lines: Sequence[str], longest: int
) -> dict[str, Any]:
    eos = model.config.eos_token_id
    ids = [tokenizer(line).input_ids for line in lines]
    same = sum([*translator.tokenizer.encode(line), eos] == found for line, found in zip(lines, ids, strict=True))
    sources = [found[:-1] for found in ids]
    ours = [found[:longest] for found in translator.translate_ids(sources, beam_size=1)]
    theirs = [_generate(model, source, 1, longest) for source in sources]
    return {"model": name, "sentences": len(lines), "same_ids": same, "same_greedy": _equal(ours, theirs)}


def _equal(ours: Sequence[Sequence[int]], theirs: Sequence[Sequence[int]]) -> int:
    return sum(list(mine) == list(other) for mine, other in zip(ours, theirs, strict=True))


def _generate(model: Any, source: Sequence[int], beams: int, longest: int) -> list[int]:
    """Return the tokens of a translation by transformers, without its end."""
    eos = model.config.eos_token_id
    longest = min(longest, default_maximum_length(len(source)))
    found = model.generate(
        torch.tensor([[*source, eos]]),
        num_beams=beams,
        max_new_tokens=longest,
        do_sample=False,
        forced_eos_token_id=None,
    )
    tokens: list[int] = found[0, 1:].tolist()
    return tokens[: tokens.index(eos)] if eos in tokens else tokens


@torch.inference_mode()
def beam_search(model: Any, source: Sequence[int]) -> list[int]:
    """Return the tokens of PocketMT's beam search on transformers' network, without its end."""
    eos, pad = model.config.eos_token_id, model.config.pad_token_id
    encoded = model.get_encoder()(torch.tensor([[*source, eos]])).last_hidden_state
    longest = default_maximum_length(len(source))
    live: list[tuple[float, list[int]]] = [(0.0, [])]
    finished: list[tuple[float, list[int]]] = []
    while live:
        inputs = torch.tensor([[model.config.decoder_start_token_id, *tokens] for _, tokens in live])
        states = (encoded.expand(len(live), -1, -1),)
        logits = model(encoder_outputs=states, decoder_input_ids=inputs).logits[:, -1]
        logits[:, pad] = -torch.inf
        values, tokens = torch.log_softmax(logits, dim=-1).topk(BEAM)
        candidates = [
            (live[row][0] + float(value), row, int(token))
            for row in range(len(live))
            for value, token in zip(values[row], tokens[row], strict=True)
        ]
        candidates.sort(key=lambda each: (-each[0], each[1], each[2]))
        kept = []
        for score, row, token in candidates[: BEAM - len(finished)]:
            before = live[row][1]
            length = len(before) + 1
            if token == eos or length >= longest:
                finished.append((score / length, before if token == eos else [*before, token]))
            else:
                kept.append((score, [*before, token]))
        live = kept
    return max(finished, key=lambda each: each[0])[1]


if __name__ == "__main__":
    sys.exit(run(main))
