"""Records what PocketMT computes, and compares it with an earlier record: a change of structure must change nothing.

    python tools/record_outputs.py --recipes FOLDER --output before.json                        in the old environment
    python tools/record_outputs.py --recipes FOLDER --output after.json --compare before.json   in the new one

It exits with 1 where any case differs.

The cases are commands as a user types them: translations with scores by every bundled model and instruction set,
training, every recipe on a small network, packing, distillation and the pipeline, resumed runs. A record holds one
SHA-256 a case. Model files are compared tensor by tensor, and their manifests without the recipe and the producer.
"""

import argparse
import hashlib
import json
import random
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import torch
from click.testing import CliRunner

from pocketmt.cli.main import pocketmt_command
from pocketmt.engine import Translator, _native
from pocketmt.evaluation.records import provenance, to_json
from pocketmt.model_file import open_model
from pocketmt.training.checkpoints import load_weights

ROOT = Path(__file__).parents[1]
WORDS = "a red blue green cat dog bird house tree man woman child sees rides reads big old two in on with and"
SCHEMES = ("float32", "uniform8", "logarithmic4")
UPDATES = "4"


def run(*arguments: str | Path) -> str:
    """Run a command in this process; returns its standard output. Raises RuntimeError where it fails."""
    result = CliRunner().invoke(pocketmt_command, [*map(str, arguments)])
    if result.exception is not None:
        raise RuntimeError(f"pocketmt {' '.join(map(str, arguments))}: {result.exception!r} {result.output[-1000:]}")
    return result.stdout


def translate(model: Path, lines: list[str], instruction_set: str | None = None) -> str:
    """Return the hash of translations, by each kind of search, with their scores."""
    translator = Translator(model, instruction_set=instruction_set)
    greedy = translator.translate(lines, beam_size=1, check=False)
    n_best = translator.translate_n_best(lines, 4, beam_size=4, check=False)
    return hash_parts([*greedy, *((each.text, each.score) for found in n_best for each in found)])


def hash_parts(parts: Iterable[object]) -> str:
    """Return the SHA-256 of values, hexadecimal."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part if isinstance(part, bytes) else str(part).encode())
        digest.update(b"\0")
    return digest.hexdigest()


def hash_model_file(path: Path) -> str:
    """Return the hash of a model file's tensors, and of what its manifest says besides recipe and producer."""
    with open_model(path) as file:
        manifest = {
            name: value for name, value in file.manifest.items() if name not in ("recipe", "producer", "digest")
        }
        tensors = [
            (name, entry.dtype, tuple(entry.shape), bytes(file.buffer[entry.offset : entry.offset + entry.size]))
            for name, entry in sorted(file.tensors.items())
        ]
    return hash_parts([json.dumps(manifest, sort_keys=True), *(part for tensor in tensors for part in tensor)])


def hash_weights(path: Path) -> str:
    """Return the hash of a training run's weights and of what the file says about them."""
    weights, metadata = load_weights(path)
    parts = [(name, weight.numpy().tobytes()) for name, weight in sorted(weights.items())]
    return hash_parts([json.dumps(metadata, sort_keys=True), *(part for each in parts for part in each)])


def made_text(count: int, seed: int) -> str:
    """Return lines of random words."""
    draw = random.Random(seed)
    return "".join(" ".join(draw.choices(WORDS.split(), k=draw.randint(2, 7))) + "\n" for _ in range(count))


def bundled_cases(text: Path) -> Iterator[tuple[str, str]]:
    """Translate with every bundled model and instruction set."""
    lines = text.read_text(encoding="utf-8").splitlines()
    for model in sorted((ROOT / "src/pocketmt/bundled").glob("*.pocketmt")):
        for instruction_set in _native.instruction_sets():
            chosen = lines[: 20 if instruction_set == "portable" else 200]
            yield f"translate {model.stem}, {instruction_set}", translate(model, chosen, instruction_set)


def write_texts(folder: Path) -> None:
    """Write training and validation text, and training configurations."""
    for name, count, seed in (("train", 120, 1), ("dev", 12, 2), ("plain", 40, 3)):
        text = made_text(count, seed)
        (folder / f"{name}.en").write_text(text)
        (folder / f"{name}.de").write_text(text.upper())
    data = "\n".join(
        [
            "[data]",
            'source_language = "en"\ntarget_language = "de"',
            'training_source = "train.en"\ntraining_target = "train.de"',
            'validation_source = "dev.en"\nvalidation_target = "dev.de"',
            "vocabulary_size = 80",
        ]
    )
    training = (
        '[training]\nthreads = 1\naccelerator = "cpu"\nbatch_tokens = 128\nwarmup_updates = 10\n'
        "maximum_updates = 30\nvalidate_every = 10\n"
    )
    sizes = (
        "encoder_layers = 1\ndecoder_layers = 1\nmodel_dimension = 24\nattention_heads = 2\nattention_dimension = 24"
    )
    models = {
        "transformer": f'preset = "tiny"\nfeed_forward_dimension = 40\n{sizes}\ndropout = 0.1',
        "pre-norm": f'preset = "tiny"\nnorm = "pre"\nfeed_forward_dimension = 40\n{sizes}',
        "student": f'preset = "6-1.nano"\nfeed_forward_dimension = 40\n{sizes}',
        "lstm": f'preset = "lstm.tiny"\nrecurrent_dimension = 28\n{sizes}',
    }
    for name, model in models.items():
        (folder / f"{name}.toml").write_text(f"{data}\n[model]\n{model}\n{training}")


def training_cases(folder: Path) -> Iterator[tuple[str, str]]:
    """Train small networks, and pack them."""
    lines = (folder / "dev.en").read_text().splitlines()
    for name in ("transformer", "pre-norm", "student", "lstm"):
        output = folder / "runs" / name
        run("train", folder / f"{name}.toml", "--output", output)
        yield f"train {name}", hash_weights(output / "model.safetensors")
        for scheme in SCHEMES:
            for coding in ([], ["--entropy-coding"]):
                packed = folder / f"{name}-{scheme}{len(coding)}.pocketmt"
                run("pack", output, "--scheme", scheme, *coding, "--output", packed)
                yield f"pack {name} {scheme} {' '.join(coding)}", hash_model_file(packed)
            yield f"translate {name} {scheme}", translate(packed, lines)


def recipe_cases(folder: Path, recipes: Mapping[str, Path]) -> Iterator[tuple[str, str]]:
    """Run every recipe on the small Transformer, and those for recurrent networks on the LSTM, and translate."""
    lines = (folder / "dev.en").read_text().splitlines()
    for name, recipe in recipes.items():
        if "stages" not in tomllib.loads(recipe.read_text()):
            continue
        for network in ("transformer", "lstm"):
            work = folder / "work" / f"{name}-{network}"
            packed = work.with_name(f"{work.name}.pocketmt")
            packed.parent.mkdir(parents=True, exist_ok=True)
            options: list[str | Path] = ["--limit-updates", UPDATES, "--folder", work]
            case = f"compress {network} by {name}"
            try:
                run("compress", folder / "runs" / network, recipe, *options, "--output", packed)
            except RuntimeError:
                yield case, "refused"
                continue
            yield case, hash_parts([hash_model_file(packed), translate(packed, lines)])


def scored_recipe_cases(folder: Path, recipes: Mapping[str, Path]) -> Iterator[tuple[str, str]]:
    """Run the recipes whose outcome no model file holds, for their scores."""
    for name, recipe in recipes.items():
        if "naive" in name:
            work = folder / "work" / f"{name}-scores"
            run("compress", folder / "runs/transformer", recipe, "--limit-updates", UPDATES, "--folder", work)
            events = [json.loads(line) for line in (work / "log.jsonl").read_text().splitlines()]
            kept = [{name: value for name, value in event.items() if name != "seconds"} for event in events[1:]]
            yield f"scores by {name}", hash_parts([json.dumps(kept, sort_keys=True)])


def measured_cases(folder: Path) -> Iterator[tuple[str, str]]:
    """Choose recipes by measurement, and measure sensitivity and quality."""
    transformer, packed = folder / "runs/transformer", folder / "transformer-uniform80.pocketmt"
    for option, value in (("--target-size", "20kB"), ("--tolerated-loss", "0.05")):
        output = folder / f"chosen{option}.pocketmt"
        run("compress", transformer, option, value, "--updates", UPDATES, "--output", output)
        yield f"compress {option}", hash_model_file(output)
    sensitivity = json.loads(run("sensitivity", transformer, "--bits", "3,1", "--json"))
    sensitivity.pop("provenance", None)
    yield "sensitivity", hash_parts([json.dumps(sensitivity, sort_keys=True)])
    listed = folder / "shortlist.pocketmt"
    run("shortlist", packed, "-s", folder / "train.en", "-t", folder / "train.de", "--output", listed)
    yield "shortlist", hash_model_file(listed)


def distillation_cases(folder: Path) -> Iterator[tuple[str, str]]:
    """Distil text from one teacher and from two, and run the pipeline."""
    for teachers in (["student"], ["transformer", "transformer"]):
        outputs = [folder / f"distilled{len(teachers)}.{side}" for side in ("en", "de")]
        names = [folder / "runs" / name for name in teachers]
        options: list[str | Path] = ["--text", folder / "plain.en", "--output", *outputs]
        run("distill", *names, *options)
        yield f"distill {len(teachers)}", hash_parts([path.read_bytes() for path in outputs])


def pipeline_cases(folder: Path, recipe: Path) -> Iterator[tuple[str, str]]:
    """Run the pipeline from a teacher to a small file."""
    lines = [
        'name = "small"\nteachers = ["runs/transformer"]\nstudent = "student.toml"',
        f'recipe = "{recipe.resolve()}"\n[distillation]\ntexts = ["plain.en"]\nn_best = 2\n[shortlist]',
    ]
    (folder / "pipeline.toml").write_text("\n".join(lines))
    command = "student" if "student" in pocketmt_command.commands else "pipeline"
    run(command, folder / "pipeline.toml", "--output", folder / "pipeline")
    yield "pipeline", hash_model_file(folder / "pipeline/model.pocketmt")


def all_cases(text: Path | None, folder: Path, recipes: Mapping[str, Path]) -> Iterator[tuple[str, str]]:
    """Yield every case and its hash."""
    if text is not None:
        yield from bundled_cases(text)
    write_texts(folder)
    yield from training_cases(folder)
    yield from distillation_cases(folder)
    yield from recipe_cases(folder, recipes)
    yield from scored_recipe_cases(folder, recipes)
    yield from measured_cases(folder)
    yield from pipeline_cases(folder, recipes[PIPELINE_RECIPE])


PIPELINE_RECIPE = "log4-compensated"


def renamed_case(case: str, renamed: Mapping[str, str]) -> str:
    """Return a case of an earlier record with the name that its recipe has now."""
    what, by, name = case.rpartition(" by ")
    return f"{what}{by}{renamed.get(name, name)}" if by else case


def main() -> None:
    """Record, and compare where asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True, help="the record to write")
    parser.add_argument("--compare", type=Path, help="an earlier record")
    parser.add_argument("--text", type=Path, help="English text for the bundled models; none: they are left out")
    parser.add_argument("--recipes", type=Path, nargs="+", required=True, help="folders of recipes")
    parser.add_argument("--renamed", type=Path, help="JSON: name of a recipe in the earlier record -> its name now")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    recipes = {
        path.relative_to(folder).with_suffix("").as_posix(): path
        for folder in arguments.recipes
        for path in sorted(folder.rglob("*.toml"))
    }
    renamed = {} if arguments.renamed is None else json.loads(arguments.renamed.read_text())
    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for case, value in all_cases(arguments.text, Path(folder), recipes):
            found[case] = value
            print(f"{case}: {value[:16]}", flush=True)
    record: dict[str, object] = {"provenance": provenance(), "cases": found}
    different: list[str] = []
    if arguments.compare is not None:
        before = json.loads(arguments.compare.read_text())
        before["cases"] = {renamed_case(case, renamed): value for case, value in before["cases"].items()}
        different = [case for case in sorted(found | before["cases"]) if found.get(case) != before["cases"].get(case)]
        record["compared_with"] = before["provenance"]["commit"]
        record["different"] = different
        print(f"{len(found)} cases, different: {record['different'] or 'none'}")
    arguments.output.write_text(f"{to_json(record)}\n", encoding="utf-8")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
