"""The command line `pocketmt`: its group of commands, its error messages and its exit statuses."""

import errno
import os
import signal
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from keyword import iskeyword
from typing import Final, cast

import click

import pocketmt
from pocketmt.atomic_file import DISK_ERRORS
from pocketmt.errors import PocketMTError

FAILED = 1
# Packages of extras. Commands that need the extra `train` fail at the import of PyTorch, before NumPy's.
EXTRAS = {
    "clean": ("numpy", "py3langid", "regex"),
    "serve": ("starlette", "uvicorn"),
    "ray": ("ray", "fsspec", "filelock"),
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
            f"among them, so run pocketmt {context.invoked_subcommand} without torchrun"
        )


def run(arguments: list[str], command: click.Command = pocketmt_command, name: str = "pocketmt") -> int:
    """Run a command line of a command with a name, print errors on stderr, and return the exit status."""
    try:
        # click exits quietly by itself if the reader of our output has closed the pipe.
        result = command.main(arguments, prog_name=name, standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except PocketMTError as error:
        return _fail(str(error))
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "pocketmt":
            raise  # The installation is broken; no extra is missing.
        extra = next((extra for extra, names in EXTRAS.items() if error.name in names), "train")
        return _fail(f"this command needs the package {error.name}: pip install 'pocketmt[{extra}]'")
    except MemoryError:
        return _fail("out of memory: translate with fewer workers, or train with fewer tokens in a batch")
    except OSError as error:
        return _fail(_explain(error))
    except RuntimeError as error:
        if type(error).__name__ != "OutOfMemoryError":  # PyTorch's, which commands without PyTorch must not import
            raise
        return _fail("the device is out of memory: close other programs that use it, or train with smaller batches")


def _explain(error: OSError) -> str:
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


def _fail(message: str) -> int:
    print(f"error: {message}", file=sys.stderr)
    return FAILED
