"""Makes the folder of a training run from a model file, so that recipes can start from weights in the repository.

    python -m benchmarks.multi30k.run_of_file captions-en-de-8bit benchmarks/multi30k/tiny.toml build/multi30k/captions

The weights are those that the codes of the file stand for; text and training settings are those of the configuration.
The folder has the files of `pocketmt train` that recipes read.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks.command import run
from pocketmt.packing.decoded import read_model
from pocketmt.training.checkpoints import save_weights
from pocketmt.training.configuration import read_configuration


def main(arguments: Sequence[str]) -> int:
    """Write the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a model file with one vocabulary, or the name of a bundled model")
    parser.add_argument("configuration", type=Path, help="as of `pocketmt train`")
    parser.add_argument("output", type=Path, help="the folder")
    options = parser.parse_args(arguments)
    model, configuration = read_model(options.model), read_configuration(options.configuration)
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "vocabulary.model").write_bytes(model.vocabularies.source.model)
    (options.output / "configuration.json").write_bytes(msgspec.json.encode(configuration))
    about = {"architecture": model.architecture.to_json(), "languages": model.languages, "training": model.training}
    save_weights(options.output / "model.safetensors", dict(model.weights), about)
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
