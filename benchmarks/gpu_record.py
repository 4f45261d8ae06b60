"""The common part of the records of programs that run on GPUs."""

from typing import Any

import torch

from pocketmt.evaluation.records import provenance


def about_gpu(program: str, device: torch.device, seed: int) -> dict[str, Any]:
    """Return the program's name, that of the GPU ("none" on the processor) and the provenance."""
    gpu = torch.cuda.get_device_name(device) if device.type == "cuda" else "none"
    return {"program": program, "gpu": gpu, "provenance": provenance(seed=seed)}
