"""Processes that start in milliseconds: forks of a process that has imported PyTorch, which takes seconds."""

import multiprocessing
import os
import sys
from collections.abc import Callable
from functools import cache
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

MODULES = [
    "lightning_fabric",
    "pocketmt.cli.compress",
    "pocketmt.cli.main",
    "pocketmt.cli.train",
    "pocketmt.cli.translate",
    "pocketmt.compression.run",
    "pocketmt.distillation.pipeline",
    "pocketmt.evaluation.model_file",
    "pocketmt.training.run",
    "sacrebleu",
]


@cache
def forking() -> ForkServerContext:
    """The server of forks, which starts at the first call and ends with this process."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(MODULES)
    # More threads would wait for one another: the models of the tests are too small for them.
    with mock.patch.dict(os.environ, {"OMP_NUM_THREADS": "1"}):
        forkserver.ensure_running()
    return context


def start(function: Callable[..., object], *arguments: Any, output: str | Path = os.devnull) -> ForkServerProcess:
    """Start a function of a module, with its arguments, in a process that writes stdout and stderr to a file."""
    process = forking().Process(target=_redirected, args=(str(output), function, arguments))
    process.start()
    return process


def start_command(*arguments: str | Path, output: str | Path = os.devnull) -> ForkServerProcess:
    """Start a command line of `pocketmt`, given without its name."""
    return start(_command, *map(str, arguments), output=output)


def _redirected(output: str, function: Callable[..., object], arguments: tuple[Any, ...]) -> None:
    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    function(*arguments)


def _command(*arguments: str) -> None:
    from pocketmt.cli.process import main  # Its import changes how signals are handled.

    sys.argv = ["pocketmt", *arguments]
    main()


@pytest.fixture
def quick_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork the processes of a run on several devices, which take their arguments by pickling, as new ones do."""
    from lightning_fabric.strategies import STRATEGY_REGISTRY  # Not every machine that runs tests has PyTorch.

    forking()
    monkeypatch.setitem(STRATEGY_REGISTRY["ddp_spawn"]["init_params"], "start_method", "forkserver")
