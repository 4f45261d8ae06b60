"""Files of foreign models with a few bytes changed, cut off or moved; each is read or refused, and nothing else.

As a program, tries many: python -m tests.interop.mutations FORMAT COUNT
"""

import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from pocketmt.errors import PocketMTError
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.importing import import_model

EXTREMES = (b"\0", b"\x01", b"\x7f", b"\x80", b"\xff", b"\xff\xff\xff\xff", b"\0\0\0\x80", b"\xff\xff\xff\x7f")


def changed(content: bytes, draw: random.Random, header: int) -> bytes:
    """A file with one to four changes; most are among its first `header` bytes."""
    data = bytearray(content)
    for _ in range(draw.randint(1, 4)):
        place = draw.randrange(min(header, len(data)) if draw.random() < 0.8 else len(data)) if data else 0
        kind = draw.randrange(5)
        if kind == 0:
            data[place : place + 1] = draw.randbytes(1)
        elif kind == 1:
            value = draw.choice(EXTREMES)
            data[place : place + len(value)] = value
        elif kind == 2:
            del data[place:]
        elif kind == 3:
            data[place:place] = draw.randbytes(draw.choice((1, 4, 8, 256)))
        else:
            del data[place : place + draw.choice((1, 4, 8))]
    return bytes(data)


def try_mutations(folder: Path, seeds: range, places: dict[str, int]) -> int:
    """Import `folder` with one of its files changed, once a seed; returns how many were refused.

    Args:
        folder: of a model.
        seeds: of the changes.
        places: files to change -> bytes at their start that most changes are made in.
    """
    refused = 0
    with tempfile.TemporaryDirectory() as workplace:
        copy, output = Path(workplace) / "model", Path(workplace) / "out" / "model.pocketmt"
        shutil.copytree(folder, copy)
        output.parent.mkdir()
        for seed in seeds:
            draw = random.Random(seed)
            name = draw.choice(list(places))
            (copy / name).write_bytes(changed((folder / name).read_bytes(), draw, places[name]))
            try:
                import_model(copy, output)
            except PocketMTError as error:
                refused += 1
                assert str(error)
                assert not any(output.parent.iterdir()), f"seed {seed}: something was written"
            finally:
                output.unlink(missing_ok=True)
                shutil.copy(folder / name, copy / name)
    return refused


def write_bergamot(folder: Path) -> dict[str, int]:
    """A student with a shortlist; returns files and the sizes of their headers."""
    from dataclasses import replace

    from pocketmt.interop.bergamot.writing import write_model
    from pocketmt.model_file.shortlist_encoding import Shortlist, listed_sides
    from tests.interop.bergamot.students import random_student

    model = small(random_student)
    size = model.architecture.vocabulary_size
    lists = Shortlist(range(4), [[9, 11]] * size, listed_sides(model.architecture))
    scales = {name: 0.03125 for name, tensor in model.tensors.items() if len(tensor.shape) == 2}
    write_model(replace(model, shortlist=lists, activation_scales=scales), folder)
    return {"model.bin": 4096, "lex.bin": 2048, "vocab.spm": 512, "metadata.json": 512}


def write_ctranslate2(folder: Path) -> dict[str, int]:
    """A model in full precision; returns files and the sizes of their headers."""
    from pocketmt.interop.ctranslate2.writing import write_model
    from tests.interop.bergamot.students import random_student

    write_model(small(random_student, decoder_autoregression="self_attention"), folder)
    names = ("config.json", "shared_vocabulary.json", "pocketmt.json", "sentencepiece.model")
    return {"model.bin": 1 << 20, **dict.fromkeys(names, 512)}


def small(student: Callable[..., ForeignModel], **changes: object) -> ForeignModel:
    """A student of one layer a side."""
    return student(1, encoder_layers=1, decoder_layers=1, feed_forward_dimension=64, attention_heads=2, **changes)


FORMATS = {"bergamot": write_bergamot, "ctranslate2": write_ctranslate2}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        sizes = FORMATS[sys.argv[1]](Path(made))
        number = int(sys.argv[2])
        print(f"{sys.argv[1]}: {try_mutations(Path(made), range(number), sizes)} of {number} refused")
