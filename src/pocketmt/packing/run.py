"""Packing of a training run's best weights under one scheme."""

from pathlib import Path

from pocketmt.packing.contents import PackingOptions, contents_of
from pocketmt.packing.model_file import pack
from pocketmt.training.trained_model import read_trained_model


def pack_run(
    run: Path, scheme: str, output: Path, *, licence: str = "", description: str = "", entropy_coding: bool = False
) -> int:
    """Pack the best weights of a run with a scheme of one name for all matrices; returns the file's size in bytes.

    Raises as `read_trained_model` and `pack` do.
    """
    model = read_trained_model(run)
    facts = {"recipe": {"schemes": scheme}, "training": model.training}
    contents = contents_of(model, scheme, licence=licence, description=description, **facts)
    return pack(output, contents, PackingOptions(entropy_coding=entropy_coding))
