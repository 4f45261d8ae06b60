"""Compresses an imported model from plain source text, and by the same recipes with references; compares quality.

    pocketmt train benchmarks/interop.toml --output runs/interop
    python -m benchmarks.plain_text --run runs/interop --folder runs/plain-text

The run is exported to Hugging Face's format and imported, so that the model knows no text. Each recipe is then given
the source side of Multi30k's training text, which the model translates, or the parallel text. The test texts are
translated with beam 4; the p-value is of a paired bootstrap of the two. Writes benchmarks/records/plain-text.json.
Both learn in batches of the same size; a model file says nothing of that of its training. An interrupted program
resumes when it is run again. --limit-updates is for a quick trial, which needs another --folder and --output.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from benchmarks.command import run
from benchmarks.data import corpus
from benchmarks.record_files import write_record
from pocketmt.compression.run import CompressionTask, compress_run
from pocketmt.engine import Translator
from pocketmt.evaluation.quality import compare, score
from pocketmt.evaluation.records import provenance
from pocketmt.interop.exporting import write_folder
from pocketmt.interop.formats import FORMATS
from pocketmt.interop.importing import import_model
from pocketmt.model_file import open_model
from pocketmt.packing.foreign import foreign_model_of
from pocketmt.packing.run import pack_run
from pocketmt.recipes.catalogue import find_recipe
from pocketmt.recipes.schema import Recipe, Retraining, limit_updates
from pocketmt.training.configuration import read_configuration

ROOT: Final = Path(__file__).resolve().parents[1]
RECORD: Final = ROOT / "benchmarks" / "records" / "plain-text.json"
RECIPES: Final = ("log4-distilled", "mixed-2.6-bits-distilled")
BATCH_TOKENS: Final = 1024  # of benchmarks/interop.toml
TESTS: Final = ("test_2016_flickr", "test_2017_flickr")


def main(arguments: Sequence[str]) -> int:
    """Compress, compare, and write the record; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, required=True, help="run of benchmarks/interop.toml")
    parser.add_argument("--folder", type=Path, required=True, help="where models and results to resume from are kept")
    parser.add_argument("--output", type=Path, default=RECORD, help="the record (default: %(default)s)")
    parser.add_argument("--limit-updates", type=int, default=sys.maxsize, help="most updates of each stage")
    options = parser.parse_args(arguments)
    origin = provenance(seed=1)
    data = corpus("multi30k")
    options.folder.mkdir(parents=True, exist_ok=True)
    imported = _imported(options.run, options.folder)
    texts: dict[str, dict[str, Any]] = {
        "plain source text": {"source_text": data / "train.en"},
        "references": {"configuration": read_configuration(ROOT / "benchmarks" / "interop.toml")},
    }
    rows: list[dict[str, Any]] = [{"model": "imported", "text": None, **_scores(imported)}]
    for name in RECIPES:
        recipe = _in_equal_batches(limit_updates(find_recipe(name), options.limit_updates))
        files = {text: _compressed(imported, recipe, text, given) for text, given in texts.items()}
        rows += [{"model": name, "text": text, **_scores(path)} for text, path in files.items()]
        rows.append({"model": name, "text": "difference", **_differences(*files.values())})
    write_record({"rows": rows, "provenance": origin}, options.output)
    for row in rows:
        print(row)
    return 0


def _imported(folder_of_run: Path, folder: Path) -> Path:
    path = folder / "imported.pocketmt"
    if not path.exists():
        packed, foreign = folder / "float32.pocketmt", folder / "hugging-face"
        pack_run(folder_of_run, "float32", packed)
        if not foreign.exists():
            with open_model(packed) as file:
                write_folder(foreign_model_of(file), FORMATS["hugging-face"], foreign)
        import_model(foreign, path)
    return path


def _in_equal_batches(recipe: Recipe) -> Recipe:
    stages = []
    for stage in recipe.stages:
        retraining = stage.retraining
        if isinstance(retraining, Retraining):
            retraining = msgspec.structs.replace(retraining, batch_tokens=BATCH_TOKENS)
        stages.append(msgspec.structs.replace(stage, retraining=retraining))
    return msgspec.structs.replace(recipe, stages=stages)


def _compressed(model: Path, recipe: Recipe, text: str, given: dict[str, Any]) -> Path:
    path = model.with_name(f"{recipe.name} {text}.pocketmt".replace(" ", "-"))
    if not path.exists():
        task = CompressionTask(run=model, folder=path.with_suffix(".compression"), **given)
        compress_run(task, recipe, path)
    return path


def _translations(path: Path, test: str) -> tuple[list[str], list[str]]:
    data = corpus("multi30k")
    sources, references = ((data / f"{test}.{side}").read_text(encoding="utf-8").splitlines() for side in ("en", "de"))
    translator = Translator(path, workers=1)
    return translator.translate(sources, beam_size=4, split=False, check=False), references


def _scores(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = {"bytes": path.stat().st_size}
    for test in TESTS:
        translations, references = _translations(path, test)
        quality = score(translations, references)
        found[f"bleu_{test}"] = quality.bleu.value
        found[f"chrf_{test}"] = quality.chrf.value
        found["bleu_signature"], found["chrf_signature"] = quality.bleu.signature, quality.chrf.signature
    return found


def _differences(plain: Path, parallel: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for test in TESTS:
        (with_plain, references), (with_references, _) = _translations(plain, test), _translations(parallel, test)
        for difference in compare(with_references, with_plain, references):
            name = difference.name.lower()
            found[f"{name}_{test}"], found[f"{name}_p_value_{test}"] = difference.gain, difference.p_value
    return found


if __name__ == "__main__":
    sys.exit(run(main))
