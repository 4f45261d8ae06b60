"""pocketmt sensitivity: which parts of a model bear few bits, and which do not."""

from pathlib import Path

import click

from pocketmt.cli.options import FILE, PICTURES, check_picture, json_option, show_scored


@click.command(short_help="Measure which parts of a model bear few bits.")
@click.argument("run", type=FILE)
@click.option("--scheme", default="binary", show_default=True, help="The scheme that is tried.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of the scheme; repeatable.")
@click.option("--bits", default="4,3,2,1", show_default=True, help="The numbers of bits, commas between them.")
@click.option("--sentences", type=click.IntRange(1), default=None, help="The validation text's first so many alone.")
@click.option("--picture", type=FILE, default=None, help=f"Also draw it, into a file ({', '.join(PICTURES)}).")
@json_option
def sensitivity(
    run: Path,
    scheme: str,
    options: tuple[str, ...],
    bits: str,
    sentences: int | None,
    picture: Path | None,
    as_json: bool,
) -> None:
    """Quantize one part of the model of RUN at a time, without retraining, and score it on its validation text.

    RUN is a folder that `pocketmt train` wrote. The bits of a recipe can be chosen by what this shows.
    Needs pip install 'pocketmt[train]'.

    \b
    Examples:
      pocketmt sensitivity runs/captions --picture sensitivity.svg
      pocketmt sensitivity runs/captions --scheme binary --option method=greedy --sentences 200 --json
    """
    tried = _whole_numbers(bits)
    given = dict(_pair(option) for option in options)
    if picture is not None:
        check_picture(picture)
    from pocketmt.evaluation.records import to_json
    from pocketmt.evaluation.sensitivity import draw_sensitivity, sensitivity_table
    from pocketmt.recipes.choosing.sensitivity import measure_sensitivity
    from pocketmt.recipes.trained_model import read_trained_model

    found = measure_sensitivity(read_trained_model(run), scheme, given, tried, sentences, show_scored)
    click.echo(to_json(found) if as_json else sensitivity_table(found))
    if picture is not None:
        draw_sensitivity(found, picture)


def _whole_numbers(text: str) -> list[int]:
    numbers = [int(part) if part.strip().isdecimal() else 0 for part in text.split(",")]
    if not all(1 <= number <= 8 for number in numbers) or len(set(numbers)) < len(numbers):
        raise click.BadParameter(f"--bits is {text!r}, expected different whole numbers from 1 to 8, as in 4,3,2,1.")
    return numbers


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.BadParameter(f"--option is {text!r}, expected NAME=VALUE, as in method=greedy.")
    return name, value
