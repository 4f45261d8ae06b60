"""The command `pocketmt` itself: its commands, and what a user sees when something goes wrong."""

import errno
import os
import signal
import sys

import click

import pocketmt
from pocketmt.cli.attention import attention
from pocketmt.cli.benchmark import benchmark
from pocketmt.cli.clean import clean
from pocketmt.cli.compress import compress
from pocketmt.cli.distill import distill
from pocketmt.cli.evaluate import evaluate
from pocketmt.cli.inspect import inspect
from pocketmt.cli.pack import pack
from pocketmt.cli.sensitivity import sensitivity
from pocketmt.cli.shortlist import shortlist
from pocketmt.cli.student import student
from pocketmt.cli.train import train
from pocketmt.cli.translate import translate
from pocketmt.errors import PocketMTError

FAILED = 1
CLEANING = ("numpy", "py3langid")  # what the extra `clean` brings; other commands miss PyTorch first
INTERRUPTED = 128 + signal.SIGINT  # as shells count it
TERMINATED = 128 + signal.SIGTERM


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(pocketmt.__version__, prog_name="pocketmt")
def pocketmt_command() -> None:
    """Make translation models small, and run them fast on an ordinary CPU.

    \b
    A first try, with the model that comes along:
      echo "A man rides a bike." | pocketmt translate
    """


for _command in (
    translate,
    inspect,
    student,
    distill,
    clean,
    train,
    pack,
    compress,
    shortlist,
    sensitivity,
    attention,
    evaluate,
    benchmark,
):
    pocketmt_command.add_command(_command)


def main() -> None:
    """Run the command line of this process and exit: 0, 1 after an error, 2 after wrong usage, 130 after Ctrl-C.

    143 after SIGTERM, with nothing unfinished left behind, as after Ctrl-C.
    """
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(TERMINATED))
    if sys.stderr is None:  # closed by the caller: Python would write what is meant for it to stdout
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # open as long as the process lives
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run a command line; say on stderr what went wrong, and return the exit status."""
    try:
        return _invoke(arguments)
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
            raise  # a broken installation, not a missing extra
        extra = "clean" if error.name in CLEANING else "train"
        return _fail(f"this command needs the package {error.name}: pip install 'pocketmt[{extra}]'")
    except MemoryError:
        return _fail("out of memory: translate with fewer workers, or train with fewer tokens in a batch")
    except OSError as error:
        return _fail(_explain(error))


def _invoke(arguments: list[str]) -> int:
    # click exits by itself, quietly, where the reader of our output has gone.
    result = pocketmt_command.main(arguments, prog_name="pocketmt", standalone_mode=False)
    return result if isinstance(result, int) else 0


def _explain(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename is not None else ""
    what = error.strerror or str(error)
    if error.errno == errno.ENOSPC:
        return f"{where}the disk is full ({what}): free some space, or write elsewhere"
    if error.errno == errno.EDQUOT:
        return f"{where}the disk quota is used up ({what}): free some space, or write elsewhere"
    return f"{where}{what}"


def _fail(message: str) -> int:
    print(f"error: {message}", file=sys.stderr)
    return FAILED
