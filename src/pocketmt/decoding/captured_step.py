"""A decoding step as a CUDA graph, and the errors of its capture when memory runs out."""

from collections.abc import Callable

import torch

from pocketmt.decoding.current_device import current_device


def capture_step(step: Callable[[], None], device: torch.device) -> torch.cuda.CUDAGraph | None:
    """Capture a step as a CUDA graph; returns None on other devices than GPUs.

    The step is run before, so it must change nothing yet: no sentence may be there.

    Raises torch.OutOfMemoryError if memory runs out, also where CUDA reports that as another error of the capture.
    """
    if device.type != "cuda":
        return None
    try:
        return _capture(step, device)
    except RuntimeError as error:
        reason = lack_of_memory(error)
        if reason is None or isinstance(error, torch.OutOfMemoryError):
            raise
        # A new error: errors that refer to one another in a circle would hold the memory of their tracebacks.
        raise torch.OutOfMemoryError(reason) from None


def _capture(step: Callable[[], None], device: torch.device) -> torch.cuda.CUDAGraph:
    # The outer stream is set again at the end, which a failed capture leaves out.
    with current_device(device), torch.cuda.stream(torch.cuda.current_stream()):
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(2):  # libraries allocate their workspaces at the first calls
                step()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        # Without a stream, PyTorch captures on one of the first GPU that captured. Threads of the caller may use GPUs
        # without the lock of `current_device`.
        with torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
            step()
    return graph


def lack_of_memory(error: RuntimeError) -> str | None:
    """Return the message about a lack of memory that an error goes back to; None if it has another cause.

    CUDA and Triton report it in words where no tensor was asked for: a graph or the code of a kernel does not fit.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, torch.OutOfMemoryError) or "out of memory" in str(cause):
            return str(cause)
        cause = cause.__context__
    return None
