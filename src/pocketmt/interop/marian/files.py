"""The files of a Marian model: weights, and the vocabularies that lie beside them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pocketmt.errors import InteropError, unreadable
from pocketmt.interop.marian.model_yml import MAXIMUM_BYTES, Value, read_model_yml

OPTIMIZER: Final = ".optimizer.npz"
DECODER_FILES: Final = ("decoder.yml", "config.yml")
# Names by which vocabularies are found where no decoder.yml says them, of the source and of the target.
_USUAL: Final = (
    ("vocab.spm", "vocab.spm"),
    ("source.spm", "target.spm"),
    ("srcvocab.spm", "trgvocab.spm"),
    ("vocab.src.spm", "vocab.trg.spm"),
)


@dataclass(frozen=True, slots=True)
class MarianFiles:
    """The files of a model.

    Attributes:
        weights: the .npz file.
        vocabularies: of source and target, .spm or .yml.
        sentencepiece: models that divide text where vocabularies are .yml.
    """

    weights: Path
    vocabularies: tuple[Path, Path]
    sentencepiece: tuple[Path, Path] | None


def weight_files(path: Path) -> list[Path]:
    """Return the .npz files that a path is, or has."""
    files = [path] if path.is_file() else sorted(path.glob("*.npz")) if path.is_dir() else []
    return [file for file in files if file.suffix == ".npz" and not file.name.endswith(OPTIMIZER)]


def find_files(path: Path) -> MarianFiles:
    """Return the files of a model, given as its folder or its .npz file.

    `decoder.yml` or `config.yml` names them; without one, the folder has one .npz file, and vocabularies
    of usual names.
    Raises InteropError naming what is missing, or what there are several of.
    """
    folder = path if path.is_dir() else path.parent
    named = _named(folder)
    candidates = weight_files(path)
    models = _paths(folder, named.get("models"), "models")
    if path.is_dir() and len(models) == 1:
        candidates = models
    if len(candidates) != 1:
        raise InteropError(f"{path}: has {len(candidates)} .npz files of weights: name one of them")
    vocabularies = _paths(folder, named.get("vocabs"), "vocabs") or _usual(folder)
    if len(vocabularies) != 2:
        raise InteropError(f"{folder}: {len(vocabularies)} vocabularies are named, expected those of source and target")
    pair = (vocabularies[0], vocabularies[1])
    if all(file.suffix == ".spm" for file in pair):
        return MarianFiles(candidates[0], pair, None)
    models = [folder / "source.spm", folder / "target.spm"]
    if missing := [model for model in models if not model.is_file()]:
        raise InteropError(
            f"{missing[0]}: no such file; vocabularies of {pair[0].name} need the models that divide text"
        )
    return MarianFiles(candidates[0], pair, (models[0], models[1]))


def _named(folder: Path) -> dict[str, Value]:
    for name in DECODER_FILES:
        if (folder / name).is_file():
            try:
                with (folder / name).open("rb") as file:
                    return read_model_yml(file.read(MAXIMUM_BYTES + 1))
            except OSError as error:
                raise InteropError(unreadable(folder / name, error)) from error
            except InteropError as error:
                raise InteropError(f"{folder / name}: {error}") from error
    return {}


def _paths(folder: Path, value: Value, key: str) -> list[Path]:
    """Return the files that a key names, which lie in the folder whatever path they had where the model was trained."""
    if value is None:
        return []
    names = value if isinstance(value, list) else [value]
    paths = [folder / Path(str(name).replace("\\", "/")).name for name in names]
    if missing := [path for path in paths if not path.is_file()]:
        raise InteropError(f"{missing[0]}: no such file, which {key} of the model's settings names")
    return paths


def _usual(folder: Path) -> list[Path]:
    for names in _USUAL:
        if all((folder / name).is_file() for name in names):
            return [folder / name for name in names]
    for pattern in ("*.spm", "*.vocab.yml", "*vocab*.yml"):
        found = sorted(folder.glob(pattern))
        if len(found) == 1:
            return found * 2
    raise InteropError(f"{folder}: no vocabularies were found: add a decoder.yml whose `vocabs` names them")
