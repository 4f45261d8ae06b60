"""The child process of Marian: translates lines of standard input with a folder of `pocketmt export --to marian`.

python run_marian.py FOLDER BEAM_SIZE < TEXT

Runs in the environment of `make marian`. Writes a line of JSON for each line: {text, score}.
"""

import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any

TARGET_PIECES = 3  # the most for each source piece


def main() -> None:
    """Translate all lines."""
    folder, beam_size = Path(sys.argv[1]), int(sys.argv[2])
    vocabularies = sorted(folder.glob("*.spm"), key=lambda path: path.name != "source.spm")
    arguments = [
        *("--models", folder / "model.npz", "--vocabs", vocabularies[0], vocabularies[-1]),
        *("--cpu-threads", 1, "--data-threads", 1, "--workspace", 512, "--quiet"),
        *("--mini-batch", 1, "--maxi-batch", 100, "--maxi-batch-sort", "src", "--normalize", 1),
        *("--beam-size", beam_size, "--max-length-factor", TARGET_PIECES, "--n-best"),
    ]
    # Imported by name, because this dependency of benchmarks is not installed when types are checked.
    pymarian: Any = importlib.import_module("pymarian")
    translator = pymarian.Translator(" ".join(map(str, arguments)))
    lines = sys.stdin.read().removesuffix("\n").split("\n")
    best: dict[int, dict[str, Any]] = {}
    for answer in translator.translate(lines):
        for hypothesis in answer.split("\n"):
            found = re.fullmatch(r"(\d+) \|\|\| (.*) \|\|\| F0= \S+ \|\|\| (\S+)", hypothesis)
            if found is None:
                sys.exit(f"error: unexpected output of Marian: {hypothesis!r}")
            # The best comes first.
            best.setdefault(int(found[1]), {"text": found[2], "score": float(found[3])})
    for _, hypothesis in sorted(best.items()):
        print(json.dumps(hypothesis))


if __name__ == "__main__":
    main()
