"""From the folder of a training run to a model file."""

from pathlib import Path

from pocketmt.errors import DataError
from pocketmt.model_file.architecture import architecture_from_json
from pocketmt.recipes.packing import About, pack
from pocketmt.training.checkpoints import load_weights


def pack_run(run: Path, scheme: str, output: Path, *, licence: str = "", description: str = "") -> int:
    """Pack the best weights of a run by a scheme of one name for all matrices; returns the file's bytes.

    Raises DataError where the folder holds no trained model, else as `pack` does.
    """
    weights, metadata = load_weights(run / "model.safetensors")
    missing = {"architecture", "languages", "training"} - metadata.keys()
    if missing:
        raise DataError(
            f"{run / 'model.safetensors'}: it does not say its {min(missing)}: train it by `pocketmt train`"
        )
    vocabulary = run / "vocabulary.model"
    if not vocabulary.is_file():
        raise DataError(f"{vocabulary}: no such file: it was made beside the weights, and belongs to them")
    about = About(
        source_language=metadata["languages"]["source"],
        target_language=metadata["languages"]["target"],
        licence=licence,
        description=description,
        recipe={"schemes": scheme},
        training=metadata["training"],
    )
    architecture = architecture_from_json(metadata["architecture"])
    return pack(output, weights, architecture, vocabulary.read_bytes(), scheme, about)
