"""Writes the synthetic corpus into a folder: `python -m examples.demo.corpus FOLDER`."""

import argparse
import sys
from pathlib import Path

from examples.demo.corpus.generation import generate
from pocketmt.errors import PocketMTError


def main(arguments: list[str] | None = None) -> int:
    """Write the corpus; return 0, or 1 after an error message if it cannot be generated or written."""
    parser = argparse.ArgumentParser(prog="python -m examples.demo.corpus", description="Write the synthetic corpus.")
    parser.add_argument("folder", type=Path, help="where train.en, train.de, dev.en, ... are written")
    parser.add_argument("--seed", type=int, default=1, help="different seeds give different sentences")
    parser.add_argument("--training", type=int, default=20_000, help="sentence pairs for training")
    options = parser.parse_args(arguments)
    try:
        corpus = generate(options.seed, options.training)
        corpus.write(options.folder)
    except PocketMTError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {options.folder}: cannot be written ({error.strerror or error})", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
