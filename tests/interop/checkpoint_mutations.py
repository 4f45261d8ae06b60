"""Damages the files of foreign models at random: an import must succeed or say what is wrong, and nothing else.

    python -m tests.interop.checkpoint_mutations [--count 10000]

Prints for each format how many imports succeeded and failed. Ends with an error at the first other exception, file left
behind, or if memory grows beyond a limit.
"""

import argparse
import random
import resource
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import torch

from pocketmt.errors import PocketMTError
from pocketmt.interop.exporting import write_folder
from pocketmt.interop.formats import FORMATS
from pocketmt.interop.importing import import_model
from tests.interop.hugging_face.folders import write_marian
from tests.interop.models import marian_architecture, marian_vocabularies, random_model

MOST_MEMORY = 512 << 20  # bytes that all imports together may add to the peak


def write_safetensors(folder: Path) -> None:
    write_marian(folder)


def write_pickle(folder: Path) -> None:
    model = write_marian(folder)
    (folder / "model.safetensors").unlink()
    torch.save(model.state_dict(), folder / "pytorch_model.bin")


def write_npz(folder: Path) -> None:
    vocabularies = marian_vocabularies()
    model = random_model(marian_architecture(vocabularies, decoder_autoregression="ssru"), vocabularies)
    write_folder(model, FORMATS["marian"], folder)


WRITERS: dict[str, Callable[[Path], None]] = {
    "safetensors": write_safetensors,
    "pytorch_model.bin": write_pickle,
    "npz": write_npz,
}


def damaged(content: bytes, generator: random.Random) -> bytes:
    """Return a file with bytes changed, inserted, repeated or removed, most often near its beginning or end."""
    changed = bytearray(content)
    for _ in range(generator.choice((1, 1, 2, 8))):
        # Headers are at the beginning, directories of zip files at the end.
        span = generator.choice((64, 1024, len(changed))) or 1
        place = generator.randrange(min(span, len(changed)) or 1)
        place = place if generator.random() < 0.6 else max(0, len(changed) - 1 - place)
        kind = generator.randrange(5)
        if kind == 0:
            changed[place : place + 1] = bytes([generator.randrange(256)])
        elif kind == 1:
            changed[place : place + 4] = generator.choice((b"\xff\xff\xff\x7f", bytes(4), b"\xff" * 4))
        elif kind == 2:
            del changed[place : place + generator.choice((1, 16, 4096))]
        elif kind == 3:
            changed[place:place] = changed[place : place + generator.choice((1, 16, 4096))]
        else:
            del changed[place:]
    return bytes(changed)


def attack(write: Callable[[Path], None], count: int, seed: int = 1) -> Counter[str]:
    """Damage one file of a folder `count` times; returns how many imports succeeded, and how many were refused."""
    found: Counter[str] = Counter()
    generator = random.Random(seed)
    with tempfile.TemporaryDirectory() as temporary:
        folder, output = Path(temporary) / "model", Path(temporary) / "output"
        write(folder)
        output.mkdir()
        contents = {file: file.read_bytes() for file in sorted(folder.iterdir())}
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        for number in range(count):
            file = generator.choice(list(contents))
            file.write_bytes(damaged(contents[file], generator))
            try:
                import_model(folder, output / "model.pocketmt")
                found["succeeded"] += 1
            except PocketMTError as error:
                found["refused"] += 1
                assert str(error), (number, file)
                assert not list(output.iterdir()), (number, file)
            except BaseException:
                print(f"damage {number} of {file.name}: kept in /tmp/pocketmt-damaged")
                shutil.copytree(folder, "/tmp/pocketmt-damaged", dirs_exist_ok=True)
                raise
            file.write_bytes(contents[file])
            for left in output.iterdir():
                left.unlink()
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10) - before
        assert grown < MOST_MEMORY, f"memory grew by {grown} bytes"
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Damages the files of foreign models at random.")
    parser.add_argument("--count", type=int, default=10_000, help="of damaged files of each format")
    arguments = parser.parse_args()
    for name, write in WRITERS.items():
        print(name, dict(attack(write, arguments.count)), flush=True)


if __name__ == "__main__":
    main()
