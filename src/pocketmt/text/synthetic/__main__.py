"""`python -m pocketmt.text.synthetic FOLDER` writes the built-in corpus into a folder."""

import argparse
import sys
from pathlib import Path

from pocketmt.errors import PocketMTError
from pocketmt.text.synthetic.corpus import generate


def main(arguments: list[str] | None = None) -> int:
    """Write the corpus; return 0, or 1 after a message where it cannot be made or written."""
    parser = argparse.ArgumentParser(
        prog="python -m pocketmt.text.synthetic", description="Write the synthetic corpus."
    )
    parser.add_argument("folder", type=Path, help="where train.en, train.de, dev.en, ... are written")
    parser.add_argument("--seed", type=int, default=1, help="another seed gives other sentences")
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
