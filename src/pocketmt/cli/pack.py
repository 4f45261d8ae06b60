"""pocketmt pack: write a trained model to one file, without retraining."""

from pathlib import Path

import click

from pocketmt.cli.endings import quoted, show_model_file
from pocketmt.cli.options import (
    FILE,
    GivenOnce,
    check_replaces_nothing,
    check_run,
    description_option,
    entropy_coding_option,
    licence_option,
)


@click.command(short_help="Pack a trained model into one file.")
@click.argument("run", type=FILE)
@click.option(
    "--scheme",
    "-s",
    type=click.Choice(["float32", "uniform8", "uniform7", "logarithmic4"]),
    default="uniform8",
    show_default=True,
    help="Storage of the weights: full precision, 8 bits, 7 bits (faster with AVX2), or 4 bits on a logarithmic scale.",
)
@click.option("--output", "-o", cls=GivenOnce, type=FILE, required=True, help="The model file to write (*.pocketmt).")
@entropy_coding_option
@licence_option
@description_option
def pack(run: Path, scheme: str, output: Path, entropy_coding: bool, licence: str, description: str) -> None:
    """Pack a trained model into one file for `pocketmt translate`, without retraining.

    RUN is a folder that `pocketmt train` wrote. Requires pip install 'pocketmt[train]'.

    \b
    Examples:
      pocketmt pack runs/captions --output captions.pocketmt
      pocketmt pack runs/captions --scheme logarithmic4 --output captions4.pocketmt --licence "research use only"
    """
    check_run(run)
    check_replaces_nothing([output], [run])
    from pocketmt.model_file.writer import check_model_output

    check_model_output(output)  # Before PyTorch is loaded, which takes seconds.
    from pocketmt.packing.run import pack_run

    pack_run(run, scheme, output, licence=licence, description=description, entropy_coding=entropy_coding)
    show_model_file(
        output,
        f"pocketmt translate --model {quoted(output)} < TEXT",
        f"pocketmt compress {quoted(run)} affine4-distilled --output {quoted(output.with_name('small.pocketmt'))}",
    )
