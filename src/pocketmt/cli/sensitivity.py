"""pocketmt sensitivity: loss of quality of each part of a model at low bit widths."""

import tempfile
from contextlib import suppress
from pathlib import Path

import click

from pocketmt.cli.options import (
    FILE,
    PICTURE_SUFFIXES,
    check_model,
    check_picture,
    check_replaces_nothing,
    json_option,
)
from pocketmt.progress import ProgressLine


@click.command(short_help="Measure how much each part of a model loses at low bit widths.")
@click.argument("model")
@click.option("--scheme", default="binary", show_default=True, help="Quantization scheme to try.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="Option of the scheme. May be repeated.")
@click.option("--bits", default="4,3,2,1", show_default=True, help="Bit widths to try, separated by commas.")
@click.option(
    "--sentences",
    type=click.IntRange(1),
    default=None,
    help="Validation sentences to score, from the first (default: all).",
)
@click.option(
    "--source-text",
    "--text",
    type=FILE,
    default=None,
    help="Plain source text, whose translations by MODEL are scored in place of its validation text.",
)
@click.option("--configuration", type=FILE, default=None, help="Training configuration whose text replaces MODEL's.")
@click.option(
    "--picture", type=FILE, default=None, help=f"Also draw the scores into this file ({', '.join(PICTURE_SUFFIXES)})."
)
@json_option
def sensitivity(
    model: str,
    source_text: Path | None,
    scheme: str,
    options: tuple[str, ...],
    bits: str,
    sentences: int | None,
    configuration: Path | None,
    picture: Path | None,
    as_json: bool,
) -> None:
    """Measure how much quality each part of a model loses at low bit widths, without retraining.

    MODEL is a folder that `pocketmt train` wrote, a model file or the name of a bundled model. One part of it at a time
    is quantized, and the model is scored on the validation text. The scores help to choose the bits of a recipe.

    Requires pip install 'pocketmt[train]'.

    \b
    Examples:
      pocketmt sensitivity runs/captions --picture sensitivity.svg
      pocketmt sensitivity opus-en-de.pocketmt --text news.en
      pocketmt sensitivity runs/captions --scheme binary --option method=greedy --sentences 200 --json
    """
    bit_widths = _parse_bit_widths(bits)
    scheme_options = dict(_parse_option(option) for option in options)
    if picture is not None:
        check_picture(picture)
        check_replaces_nothing([picture], [model, source_text, configuration])
    if configuration is not None and source_text is not None:
        raise click.UsageError("--configuration has no effect with --text: leave one of them out.")
    check_model(model)
    # A mistake in the configuration is reported before PyTorch is loaded, which takes seconds.
    from pocketmt.training.configuration import read_configuration

    resolved = None if configuration is None else read_configuration(configuration)
    from pocketmt.compression.choosing.sensitivity import measure_sensitivity, schemes_to_try
    from pocketmt.compression.run import configured
    from pocketmt.compression.texts import scored_text
    from pocketmt.evaluation.records import to_json
    from pocketmt.evaluation.sensitivity import draw_sensitivity, sensitivity_table
    from pocketmt.packing.decoded import read_model

    schemes_to_try(scheme, scheme_options, bit_widths)  # A mistake is reported before text is translated.
    progress = ProgressLine("scored", "networks").update
    trained, corpus = configured(read_model(model), resolved), None
    if source_text is not None:
        with tempfile.TemporaryDirectory() as folder:
            translated = ProgressLine("translated", "lines").update
            corpus = scored_text(trained, source_text, Path(folder), sentences, translated)
    found = measure_sensitivity(trained, scheme, scheme_options, bit_widths, sentences, progress, corpus)
    click.echo(to_json(found) if as_json else sensitivity_table(found))
    if found.is_noise:
        click.echo(
            f"warning: nearly all differences in BLEU from full precision ({found.bleu:.1f}) are within noise: score "
            "more sentences, compare losses, or train the model longer",
            err=True,
        )
    if picture is not None:
        draw_sensitivity(found, picture)


def _parse_bit_widths(text: str) -> list[int]:
    numbers = [int(part) if part.strip().isdecimal() else 0 for part in text.split(",")]
    if not all(1 <= number <= 8 for number in numbers) or len(set(numbers)) < len(numbers):
        raise click.BadParameter(f"--bits is {text!r}, expected different whole numbers from 1 to 8, such as 4,3,2,1.")
    return numbers


def _parse_option(text: str) -> tuple[str, object]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.BadParameter(f"--option is {text!r}, expected NAME=VALUE, such as method=greedy.")
    for kind in (int, float):
        with suppress(ValueError):
            return name, kind(value)
    return name, value
