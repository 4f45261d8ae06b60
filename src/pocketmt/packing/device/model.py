"""A model on a device of PyTorch, with the interface of the native engine's `Model`."""

from collections.abc import Sequence
from concurrent.futures import CancelledError
from operator import index as as_integer
from threading import Event, Lock
from typing import Final

import torch

from pocketmt.decoding.current_device import current_device
from pocketmt.decoding.decoder import Decoder
from pocketmt.decoding.requests import Request, SearchSettings, Translation
from pocketmt.errors import EngineError
from pocketmt.model_file import Architecture, open_model
from pocketmt.model_file.shortlist_encoding import Shortlist
from pocketmt.models.inputs import decoder_input, encoder_input, pad
from pocketmt.models.network import TranslationNetwork
from pocketmt.models.search import default_maximum_length
from pocketmt.packing.device.options import DeviceOptions
from pocketmt.packing.device.precision import DEFAULT_PRECISION, load_network
from pocketmt.packing.stored_shortlist import shortlist_of

Details = tuple[list[int], float, list[float], list[list[float]]]
LINES_AT_ONCE: Final = 4096  # A chunk of a long text: many sentences fill a GPU, and are sorted by length.


def torch_device(name: str) -> torch.device:
    """Return the device "cuda", "cuda:N" or "torch-cpu"; EngineError if PyTorch does not find it."""
    if name == "torch-cpu":
        return torch.device("cpu")
    build = f"PyTorch {torch.__version__}, built {'with' if torch.version.cuda else 'without'} CUDA,"
    if not torch.cuda.is_available():
        raise EngineError(
            f"device {name!r}: {build} finds no GPU: choose 'cpu', or install a driver and a build of PyTorch for "
            "your GPU"
        )
    device = torch.device(name)
    if device.index is not None and device.index >= torch.cuda.device_count():
        raise EngineError(f"device {name!r}: {build} finds {torch.cuda.device_count()} GPUs, counted from 0")
    return device


def finds_gpu() -> bool:
    """Return whether PyTorch finds a GPU."""
    return torch.cuda.is_available()


class DeviceModel:
    """A network of a model file, or an ensemble, which translates on one device.

    It may be used from several threads, one at a time.

    Attributes:
        make_options: makes the options that `submit` takes.
    """

    make_options = DeviceOptions

    def __init__(
        self, networks: Sequence[TranslationNetwork], shortlist: Shortlist | None, device: str, precision: str
    ) -> None:
        """Take networks on a device; those of an ensemble fit together (`pocketmt.model_file.ensemble`)."""
        self.precision = precision
        self._networks, self._shortlist = networks, shortlist
        self._architecture = networks[0].architecture
        self._decoder = Decoder(networks)
        self._device_name = device
        self._lock = Lock()

    @classmethod
    def load(cls, path: str, device: str, precision: str | None, workers: int) -> "DeviceModel":
        """Load a model file.

        Args:
            path: of the file.
            device: "cuda", "cuda:N" or "torch-cpu".
            precision: see `load_network`; None: float32.
            workers: threads of PyTorch, for the processor.

        Raises:
            EngineError: PyTorch does not find the device, or there is no such precision.
            ModelFileError: the file is broken.
        """
        place = torch_device(device)
        if place.type == "cpu":
            torch.set_num_threads(workers)
        chosen = precision or DEFAULT_PRECISION
        network = load_network(path, chosen, place)
        with open_model(path, check_digest=False) as file:  # The network's loading has checked it.
            return cls([network], shortlist_of(file), device, chosen)

    @staticmethod
    def ensemble(models: "Sequence[DeviceModel]", *, workers: int, pin_workers: bool = False) -> "DeviceModel":
        """Return a model that translates by the mean of the log-probabilities of several on one device.

        It has no shortlist. The number of workers is that of PyTorch, which `load` has set.
        """
        first = models[0]
        networks = [network for model in models for network in model._networks]
        return DeviceModel(networks, None, first._device_name, first.precision)

    @property
    def instruction_set(self) -> str:
        """The device and the precision, which stand for the instruction set of the native engine."""
        return f"{self._device_name}, {self.precision}"

    def submit(
        self,
        sources: Sequence[Sequence[int]],
        options: DeviceOptions,
        prefixes: Sequence[Sequence[int]] = (),
        terms: Sequence[object] = (),
    ) -> "PendingTranslations":
        """Take sentences; they are translated when the results are asked for. See `_native.Model.submit`.

        Raises:
            TypeError: a source is not a list of integers.
            EngineError: an option or id is out of range.
        """
        shape = self._architecture
        options.check_beam(shape.vocabulary_size - len(shape.never_generated_ids) - 1)
        checked = [_checked(source, shape) for source in sources]
        requests = [
            self._request(source, prefixes[number] if prefixes else (), options)
            for number, source in enumerate(checked)
        ]
        return PendingTranslations(self, requests, options)

    def _request(self, source: Sequence[int], prefix: Sequence[int], options: DeviceOptions) -> Request:
        usual = default_maximum_length(len(source)) + len(prefix)
        limit = options.max_length or max(usual, options.min_length)
        if options.max_length is not None and prefix and len(prefix) >= options.max_length:
            raise EngineError(
                f"max_length is {options.max_length}, it must be more than the {len(prefix)} pieces of a prefix"
            )
        listed = options.shortlist and self._shortlist is not None
        allowed = self._shortlist.pieces(source) if listed and self._shortlist is not None else None
        # As in the engine, a list that is too short for the beam is not used.
        if allowed is not None and len({*allowed} - {*self._architecture.never_generated_ids}) <= options.beam_size:
            allowed = None
        if allowed is not None and prefix:
            allowed = sorted({*allowed, *prefix})
        return Request(source, limit, prefix, allowed)

    def translate(self, requests: Sequence[Request], options: DeviceOptions, stopped: Event) -> list[list[Translation]]:
        """Translate checked requests; CancelledError if `stopped` is set."""
        settings = SearchSettings(
            options.beam_size, options.length_penalty, options.min_length, options.scores, options.n_best
        )
        results: list[list[Translation]] = []
        most = options.batch_size or len(requests)
        with self._lock:
            for start in range(0, len(requests), max(1, most)):
                results += self._decoder.translate(requests[start : start + most], settings, stopped.is_set)
        if stopped.is_set():
            raise CancelledError
        return results

    @torch.inference_mode()
    def logits(self, source: Sequence[int], target: Sequence[int]) -> bytes:
        """Return teacher-forced logits, see `_native.Model.logits`."""
        shape, device = self._architecture, self._decoder.device
        read = [encoder_input(shape, _checked(source, shape))]
        written = [decoder_input(shape, _checked(target, shape, target=True))]
        with self._lock, current_device(device):
            each = [
                network.logits(network(pad(read, device), pad(written, device))[0]).float()
                for network in self._networks
            ]
            if len(each) == 1:
                return each[0].cpu().numpy().tobytes()
            return torch.stack([logits.log_softmax(-1) for logits in each]).mean(dim=0).cpu().numpy().tobytes()


class PendingTranslations:
    """Sentences to translate; see `_native.Pending`."""

    def __init__(self, model: DeviceModel, requests: Sequence[Request], options: DeviceOptions) -> None:
        self._model, self._requests, self._options = model, requests, options
        self._stopped = Event()

    def begin(self) -> None:
        """Do nothing: there are no other workers."""

    def result(self) -> list[list[tuple[list[int], float]]]:
        """Translate; returns each source's translations. CancelledError if it is cancelled."""
        found = self._model.translate(self._requests, self._options, self._stopped)
        return [[([*each.ids], each.score) for each in hypotheses] for hypotheses in found]

    def details(self) -> list[list[Details]]:
        """Like `result`, with scores of ids."""
        found = self._model.translate(self._requests, self._options, self._stopped)
        return [[([*each.ids], each.score, [*each.token_scores], []) for each in hypotheses] for hypotheses in found]

    def cancel(self) -> None:
        """End it soon; may be called while another thread waits for the result."""
        self._stopped.set()


def _checked(ids: Sequence[int], shape: Architecture, *, target: bool = False) -> list[int]:
    """Return ids as a list; EngineError if one is out of range."""
    size = shape.vocabulary_size if target else shape.source_size
    checked = [as_integer(id) for id in ids]
    for id in checked:
        if not 0 <= id < size:
            raise EngineError(f"token id {id} is not in the vocabulary of {size} pieces")
    return checked
