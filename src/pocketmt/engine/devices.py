"""Devices that translate: the processor by the native engine, and those of PyTorch."""

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol

from pocketmt.engine import _native
from pocketmt.errors import EngineError
from pocketmt.lazy_pattern import lazy_pattern

NATIVE: Final = "cpu"
AUTOMATIC: Final = "auto"
_DEVICE: Final = lazy_pattern(r"torch-cpu|cuda(:\d+)?")
# The driver of a GPU makes one of these files: of NVIDIA, of NVIDIA in Windows' Linux, of AMD.
_DRIVERS: Final = ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd")
# Imported by name: the engine does not depend on PyTorch.
_PYTORCH: Final = "pocketmt.packing.device.model"
LINES_AT_ONCE: Final = 256  # A good chunk of a long text for the native engine.


class PendingSentences(Protocol):
    """Sentences that are being translated, see `_native.Pending`."""

    def begin(self) -> None:
        """Let other workers begin the translation."""
        ...

    def result(self) -> "list[_native.Translations]":
        """Return the translations of each source."""
        ...

    def details(self) -> "list[list[_native.Details]]":
        """Return the translations of each source with details."""
        ...

    def cancel(self) -> None:
        """End the translation soon."""
        ...


class TranslationModel(Protocol):
    """A model on a device, see `_native.Model`."""

    @property
    def instruction_set(self) -> str:
        """Name of what computes."""
        ...

    @staticmethod
    def ensemble(models: Sequence[Any], *, workers: int, pin_workers: bool = ...) -> "TranslationModel":
        """Return a model that translates by the mean of the log-probabilities of several on this device."""
        ...

    def submit(
        self,
        sources: Sequence[Sequence[int]],
        options: Any,
        prefixes: Sequence[Sequence[int]] = ...,
        terms: Sequence[Any] = ...,
    ) -> PendingSentences:
        """Return a translation, which begins when its result is waited for."""
        ...

    def logits(self, source: Sequence[int], target: Sequence[int]) -> bytes:
        """Return teacher-forced logits, float32 [len(target) + 1, V]."""
        ...


# Makes options of a search, with the arguments of `_native.SearchOptions`.
MakeOptions = Callable[..., Any]


def choose_device(name: object) -> str:
    """Return the device of a name; "auto" is a GPU if PyTorch finds one, and else the native engine.

    Raises:
        TypeError: the name is no string.
        EngineError: there is no such device.
    """
    if not isinstance(name, str):
        raise TypeError(f"device must be a string, not {type(name).__name__}")
    if name == AUTOMATIC:
        return "cuda" if any(map(os.path.exists, _DRIVERS)) and _finds_gpu() else NATIVE
    if name != NATIVE and not _DEVICE.fullmatch(name):
        raise EngineError(f"device is {name!r:.40}, choose one of 'cpu', 'cuda', 'cuda:N', 'torch-cpu' or 'auto'")
    return name


def load_on_device(
    path: Path, device: str, precision: str | None, workers: int
) -> tuple[TranslationModel, MakeOptions]:
    """Load a model file on a device of PyTorch; returns the model, and what makes options for it.

    Raises:
        EngineError: PyTorch is missing or does not find the device, or there is no such precision.
        ModelFileError: the file is broken.
    """
    module = _pytorch(device)
    return module.DeviceModel.load(str(path), device, precision, workers), module.DeviceModel.make_options


def lines_at_once(device: str) -> int:
    """Return a good number of lines for a chunk of a long text."""
    return LINES_AT_ONCE if device == NATIVE else int(_pytorch(device).LINES_AT_ONCE)


def _pytorch(device: str) -> Any:
    try:
        return import_module(_PYTORCH)
    except ImportError as error:
        if (error.name or "").startswith("pocketmt"):
            raise
        raise EngineError(f"device {device!r} needs PyTorch ({error}): pip install 'pocketmt[train]'") from error


def _finds_gpu() -> bool:
    try:
        return bool(_pytorch(AUTOMATIC).finds_gpu())
    except EngineError:
        return False
