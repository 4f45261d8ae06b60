"""The page of all commands and options, generated from the help of the command line."""

import re
from collections.abc import Iterable
from typing import Final

import click

from pocketmt.cli.main import pocketmt_command
from tools.documentation.fields import NO_DEFAULT
from tools.documentation.tables import table

OPENING: Final = """# Commands

This page is generated from the help of each command, which `pocketmt COMMAND --help` prints. The exit status is 0 after
success, 1 after an error or where nobody reads the output, 2 after wrong usage, 130 after Ctrl-C, 143 after SIGTERM and
129 after SIGHUP.
"""


def commands_page() -> str:
    """Return the page in Markdown."""
    context = click.Context(pocketmt_command, info_name="pocketmt")
    commands = [(name, pocketmt_command.get_command(context, name)) for name in pocketmt_command.list_commands(context)]
    short = [(f"[`{name}`](#{name})", command.get_short_help_str(100)) for name, command in commands if command]
    sections = [section for name, command in commands if command for section in _command(name, command, context)]
    return "\n".join([OPENING, table(("command", "what it does"), short), *sections])


def _command(name: str, command: click.Command, parent: click.Context) -> Iterable[str]:
    context = click.Context(command, info_name=name, parent=parent)
    yield f"## {name}\n"
    yield f"```text\n{command.get_usage(context).removeprefix('Usage: ')}\n```\n"
    for paragraph in re.split(r"\n\s*\n", (command.help or "").strip()):
        yield _paragraph(paragraph)
    if command.epilog:
        yield f"{_plain(command.epilog)}\n"
    rows = [_option(each) for each in command.params if isinstance(each, click.Option) and not each.hidden]
    yield table(("option", "default", "meaning"), rows)


def _paragraph(text: str) -> str:
    """Return a paragraph of a help text; one that click keeps as it is becomes a block of commands."""
    text = text.strip()
    if not text.startswith("\b"):
        return f"{_plain(' '.join(text.split()))}\n"
    lines = [line.strip() for line in text.removeprefix("\b").strip().splitlines()]
    title, examples = ("", lines) if not lines[0].endswith(":") else (lines[0], lines[1:])
    return (f"{title}\n\n" if title else "") + "```console\n" + "\n".join(examples) + "\n```\n"


def _option(option: click.Option) -> tuple[str, str, str]:
    names = " / ".join(", ".join(each) for each in (option.opts, option.secondary_opts) if each)
    context = click.Context(click.Command("none"))
    value = "" if option.is_flag or option.count else f" {_value(option, context)}"
    default = option.get_default(context) if option.show_default else None
    if isinstance(default, list):  # Of an option that may be repeated.
        default = " ".join(default)
    shown = NO_DEFAULT if option.required else "" if default is None else f"`{default}`"
    meaning = _plain(option.help or "")
    if isinstance(option.type, click.Choice):
        meaning += f" One of {', '.join(f'`{choice}`' for choice in option.type.choices)}."
    limits = f" ({_limits(option.type)})" if isinstance(option.type, click.IntRange | click.FloatRange) else ""
    return f"`{names}{value}`{limits}", shown, meaning


def _value(option: click.Option, context: click.Context) -> str:
    """Return what stands for the value of an option, such as PATH."""
    if option.metavar is None and isinstance(option.type, click.IntRange | click.FloatRange):
        return "NUMBER"
    if option.metavar is None and isinstance(option.type, click.Path):
        return "PATH"
    if option.metavar is None and isinstance(option.type, click.Choice):
        return "NAME"
    return option.make_metavar(context)


def _limits(numbers: click.IntRange | click.FloatRange) -> str:
    """Return the limits of a range as signs; words would make the page much longer."""
    low, high = "> " if numbers.min_open else "≥ ", "< " if numbers.max_open else "≤ "
    limits = ((low, numbers.min), (high, numbers.max))
    return ", ".join(f"{sign}{limit:.12g}" for sign, limit in limits if limit is not None)


def _plain(text: str) -> str:
    """Return help text without characters that Markdown would read as marks."""
    return re.sub(r"(?<!`)<(?!`)", "&lt;", re.sub(r"(?<=\()\*(?=\.)|(?<=\s)\*(?=\.)", "\\\\*", text))
