"""The command line `pocketmt`: its group of commands, its error messages and its exit statuses."""

import errno
import os
import signal
import sys
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from importlib import import_module
from keyword import iskeyword
from typing import Final, cast

import click

import pocketmt
from pocketmt.atomic_file import DISK_ERRORS
from pocketmt.errors import LanguageNeededError, PocketMTError
from pocketmt.progress import ProgressLine

FAILED = 1
# Packages of extras, from the first of which a missing package is taken.
EXTRAS = {
    "interop": ("numpy",),
    "clean": ("numpy", "py3langid", "regex"),
    "serve": ("starlette", "uvicorn", "httptools", "py3langid"),
    "ray": ("ray", "fsspec", "filelock"),
}
_WITH_TRAIN: Final = ("compare", "export", "shortlist")  # commands that need the extra `train` and import NumPy first
_LESS_MEMORY = {
    "translate": "translate with fewer --workers or a smaller --batch-size",
    "train": "train with fewer tokens in a batch",
}
INTERRUPTED = 128 + signal.SIGINT  # The exit status that shells report for Ctrl-C.
COMMANDS: Final = (
    "benchmark",
    "clean",
    "compare",
    "compress",
    "distill",
    "evaluate",
    "export",
    "import",
    "inspect",
    "names",
    "pack",
    "pipeline",
    "sensitivity",
    "serve",
    "shortlist",
    "train",
    "translate",
)


class LazyCommands(Mapping[str, click.Command]):
    """The commands by name. A command's module is imported when the command is asked for, because imports take time."""

    def __getitem__(self, name: str) -> click.Command:
        """Return the function of that name in the module of that name; both end in "_" if it is a keyword."""
        if name not in COMMANDS:
            raise KeyError(name)
        name += "_" if iskeyword(name) else ""
        command: click.Command = getattr(import_module(f"pocketmt.cli.{name}"), name)
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


@click.group(
    commands=cast("MutableMapping[str, click.Command]", LazyCommands()),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(pocketmt.__version__, prog_name="pocketmt")
@click.pass_context
def pocketmt_command(context: click.Context) -> None:
    """Compress neural machine translation models, and run them fast on ordinary CPUs.

    \b
    Try the bundled model:
      echo "Where is the train station?" | pocketmt translate
    """
    processes = os.environ.get("WORLD_SIZE", "1") if "TORCHELASTIC_RUN_ID" in os.environ else "1"
    if processes != "1" and context.invoked_subcommand != "train":
        raise click.UsageError(
            f"torchrun has started {processes} processes, which all would do the same work: only train shares its work "
            f"among them, so run pocketmt {context.invoked_subcommand} without torchrun."
        )


def run(arguments: list[str], command: click.Command = pocketmt_command, name: str = "pocketmt") -> int:
    """Run a command line of a command with a name, print errors on stderr, and return the exit status."""
    try:
        # click exits quietly by itself if the reader of our output has closed the pipe.
        try:
            result = command.main(arguments, prog_name=name, standalone_mode=False)
        finally:  # Messages begin on a new line.
            ProgressLine.end_line()
        return result if isinstance(result, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort) as error:
        if isinstance(error, click.Abort) and isinstance(error.__cause__, EOFError):
            raise error.__cause__ from None  # click takes it for Ctrl-D; no command asks for anything.
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except LanguageNeededError as error:
        return _fail(f"{error}{_other_way(arguments)}")
    except PocketMTError as error:
        return _fail(str(error))
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "pocketmt":
            raise  # The installation is broken; no extra is missing.
        extra = _extra_of(error.name, _subcommand(arguments))
        return _fail(f"this command needs the package {error.name}: pip install 'pocketmt[{extra}]'")
    except MemoryError:
        remedy = _LESS_MEMORY.get(_subcommand(arguments), "give it less at once")
        return _fail(f"out of memory: close other programs, or {remedy}")
    except OSError as error:
        return _fail(_explain(error))
    except RuntimeError as error:
        if type(error).__name__ != "OutOfMemoryError":  # PyTorch's, which commands without PyTorch must not import
            raise
        return _fail("the device is out of memory: close other programs that use it, or train with smaller batches")


def _subcommand(arguments: Sequence[str]) -> str:
    """Return the command that arguments of `pocketmt` name; options before it take no values."""
    return next((argument for argument in arguments if not argument.startswith("-")), "")


def _extra_of(package: str | None, command: str) -> str:
    """Return the extra with a package that a command lacks: that of its name, if it has the package."""
    if command in _WITH_TRAIN and package == "numpy":
        return "train"
    extras = [extra for extra, packages in EXTRAS.items() if package in packages] or ["train"]
    return command if command in extras else extras[0]


def _other_way(arguments: Sequence[str]) -> str:
    """Return how to choose the languages of a model for a command that does not take them."""
    command = LazyCommands().get(_subcommand(arguments))
    if command is None or any(parameter.name == "source_language" for parameter in command.params):
        return ""
    return (
        "; this command takes the languages that the model file names: make the file by "
        "`pocketmt import MODEL --source-language CODE --target-language CODE --output FILE`"
    )


def _explain(error: OSError) -> str:
    if isinstance(error, FileNotFoundError) and error.filename is None and not _current_folder_exists():
        return "the current folder has been removed: change to another folder"
    path = f"{error.filename}: " if error.filename is not None else ""
    reason = error.strerror or str(error)
    if error.errno in DISK_ERRORS:
        path = path or "the output: "
    if error.errno == errno.ENOSPC:
        return f"{path}the disk is full ({reason}): free some space, or write to another disk"
    if error.errno == errno.EDQUOT:
        return f"{path}the disk quota is used up ({reason}): free some space, or write to another disk"
    if error.errno == errno.EFBIG:
        return (
            f"{path}the file is larger than the disk or a limit of the shell (ulimit -f) allows: write to another disk"
        )
    if isinstance(error, FileNotFoundError | IsADirectoryError | NotADirectoryError | PermissionError):
        reason += ": check the path"
    return f"{path}{reason}"


def _current_folder_exists() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return False
    return True


def _fail(message: str) -> int:
    from pocketmt.interop.temporary import as_given

    print(f"error: {as_given(message)}", file=sys.stderr)
    return FAILED
