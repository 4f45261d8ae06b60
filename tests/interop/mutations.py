"""Damages the files of foreign models at random: an import must succeed or say what is wrong, and nothing else.

    python -m tests.interop.mutations [--count 10000] [FORMAT ...]

Prints for each format how many imports succeeded and were refused. Ends with an error at the first other exception, at
a file left behind, or if memory grows beyond a limit.
"""

import argparse
import random
import resource
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import torch

from pocketmt.errors import PocketMTError
from pocketmt.interop.exporting import write_folder
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.formats import FORMATS
from pocketmt.interop.importing import import_model
from pocketmt.model_file.shortlist_encoding import Shortlist, listed_sides
from tests.interop.bergamot.students import random_student
from tests.interop.hugging_face.folders import write_marian
from tests.interop.models import marian_architecture, marian_vocabularies, random_model

MOST_MEMORY: Final = 512 << 20  # bytes that all imports of a format together may add to the peak
EXTREMES: Final = (b"\0", b"\x7f", b"\xff", bytes(4), b"\xff" * 4, b"\xff\xff\xff\x7f", b"\0\0\0\x80")
LENGTHS: Final = (1, 4, 8, 16, 256, 4096)


def _small(**changes: object) -> ForeignModel:
    """A student of one layer a side."""
    sizes = {"encoder_layers": 1, "decoder_layers": 1, "feed_forward_dimension": 64, "attention_heads": 2}
    return random_student(1, **sizes, **changes)


def write_bergamot(folder: Path) -> None:
    """A student with multipliers of activations and a shortlist."""
    model = _small()
    lists = Shortlist(range(4), [[9, 11]] * model.architecture.vocabulary_size, listed_sides(model.architecture))
    scales = {name: 0.03125 for name, tensor in model.tensors.items() if len(tensor.shape) == 2}
    write_folder(replace(model, shortlist=lists, activation_scales=scales), FORMATS["bergamot"], folder)


def write_ctranslate2(folder: Path) -> None:
    """A Transformer in full precision."""
    write_folder(_small(decoder_autoregression="self_attention"), FORMATS["ctranslate2"], folder)


def write_safetensors(folder: Path) -> None:
    """A Transformer of Hugging Face."""
    folder.mkdir()
    write_marian(folder)


def write_pickle(folder: Path) -> None:
    """The same in the older format."""
    folder.mkdir()
    model = write_marian(folder)
    (folder / "model.safetensors").unlink()
    torch.save(model.state_dict(), folder / "pytorch_model.bin")


def write_npz(folder: Path) -> None:
    """A student of Marian."""
    vocabularies = marian_vocabularies()
    model = random_model(marian_architecture(vocabularies, decoder_autoregression="ssru"), vocabularies)
    write_folder(model, FORMATS["marian"], folder)


WRITERS: Final[dict[str, Callable[[Path], None]]] = {
    "bergamot": write_bergamot,
    "ctranslate2": write_ctranslate2,
    "safetensors": write_safetensors,
    "pytorch_model.bin": write_pickle,
    "npz": write_npz,
}


def damaged(content: bytes, draw: random.Random) -> bytes:
    """Return a file with bytes changed, inserted, repeated or removed, most often near its beginning or end."""
    data = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 4, 8))):
        # Headers are at the beginning, directories of zip files at the end.
        span = min(draw.choice((64, 1024, 4096, len(data))), len(data))
        place = draw.randrange(span or 1)
        place = place if draw.random() < 0.7 else max(0, len(data) - 1 - place)
        kind = draw.randrange(6)
        if kind == 0:
            data[place : place + 1] = draw.randbytes(1)
        elif kind == 1:
            value = draw.choice(EXTREMES)
            data[place : place + len(value)] = value
        elif kind == 2:
            del data[place : place + draw.choice(LENGTHS)]
        elif kind == 3:
            data[place:place] = data[place : place + draw.choice(LENGTHS)]
        elif kind == 4:
            data[place:place] = draw.randbytes(draw.choice(LENGTHS))
        else:
            del data[place:]
    return bytes(data)


def attack(write: Callable[[Path], None], count: int) -> Counter[str]:
    """Damage one file of a folder `count` times; returns how many imports succeeded, and how many were refused."""
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as temporary:
        folder, output = Path(temporary) / "model", Path(temporary) / "output"
        write(folder)
        output.mkdir()
        contents = {file: file.read_bytes() for file in sorted(folder.iterdir())}
        # Weights are the most of a format: half of all damage is to them.
        weights = max(contents, key=lambda file: len(contents[file]))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        for seed in range(count):
            draw = random.Random(seed)
            file = weights if draw.random() < 0.5 else draw.choice(list(contents))
            file.write_bytes(damaged(contents[file], draw))
            found[_import(folder, output, f"seed {seed}, {file.name}")] += 1
            file.write_bytes(contents[file])
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10) - before
        assert grown < MOST_MEMORY, f"memory grew by {grown} bytes"
    return found


def _import(folder: Path, output: Path, name: str) -> str:
    try:
        import_model(folder, output / "model.pocketmt")
    except PocketMTError as error:
        assert str(error), name
        assert not list(output.iterdir()), f"{name}: something was written"
        return "refused"
    except BaseException:
        kept = Path(tempfile.gettempdir()) / "pocketmt-damaged"
        print(f"{name}: kept in {kept}")
        shutil.copytree(folder, kept, dirs_exist_ok=True)
        raise
    for file in output.iterdir():
        file.unlink()
    return "succeeded"


def main(arguments: Sequence[str] | None = None) -> None:
    """Damage files of each format."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("formats", nargs="*", choices=[*WRITERS, []], help="default: all")
    parser.add_argument("--count", type=int, default=10_000, help="damaged files of each format")
    options = parser.parse_args(arguments)
    for name in options.formats or WRITERS:
        print(name, dict(attack(WRITERS[name], options.count)), flush=True)


if __name__ == "__main__":
    main()
