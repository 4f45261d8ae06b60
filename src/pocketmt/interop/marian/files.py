"""The files of a Marian model: weights, and the vocabularies that lie beside them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pocketmt.errors import InteropError, unreadable
from pocketmt.interop.marian.model_yml import MAXIMUM_BYTES, Value, read_model_yml

OPTIMIZER: Final = ".optimizer.npz"
DECODER_FILES: Final = ("decoder.yml", "config.yml")
# After the name of weights: what Marian's training writes beside them.
_OF_WEIGHTS: Final = ".decoder.yml"
# Models that divide text where tables have the ids, of the source and of the target.
_DIVIDING: Final = ("source.spm", "target.spm")
# Names by which vocabularies are found where no decoder.yml says them, of the source and of the target.
_USUAL: Final = (
    ("vocab.spm", "vocab.spm"),
    _DIVIDING,
    ("srcvocab.spm", "trgvocab.spm"),
    ("vocab.src.spm", "vocab.trg.spm"),
)
# Tables of ids, of the source and of the target.
_TABLES: Final = ("source.vocab.yml", "target.vocab.yml")


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
    files = [path] if path.is_file() else _matching(path, "*.npz") if path.is_dir() else []
    return [file for file in files if file.suffix == ".npz" and not file.name.endswith(OPTIMIZER)]


def _matching(folder: Path, pattern: str) -> list[Path]:
    """Return files in order, without those of the system, such as `._model.npz`, which macOS adds to archives."""
    return sorted(file for file in folder.glob(pattern) if not file.name.startswith("."))


def find_files(path: Path) -> MarianFiles:
    """Return the files of a model, given as its folder or its .npz file.

    `decoder.yml`, `config.yml` or the file beside the weights names them; without one, the folder has one .npz file,
    and vocabularies of usual names.
    Raises InteropError naming what is missing, or what there are several of.
    """
    folder = path if path.is_dir() else path.parent
    candidates = weight_files(path)
    named = named_files(folder, *candidates)
    models = named_paths(folder, named.get("models"), "models")
    if path.is_dir() and len(models) == 1:
        candidates = models
    if len(candidates) != 1:
        raise InteropError(f"{path}: has {len(candidates)} .npz files of weights: name one of them")
    vocabularies = named_paths(folder, named.get("vocabs"), "vocabs") or _usual(folder)
    if len(vocabularies) != 2:
        raise InteropError(f"{folder}: {len(vocabularies)} vocabularies are named, expected those of source and target")
    pair = (vocabularies[0], vocabularies[1])
    if all(file.suffix == ".spm" for file in pair):
        return MarianFiles(candidates[0], pair, None)
    models = [folder / name for name in _DIVIDING]
    if missing := [model for model in models if not model.is_file()]:
        raise InteropError(
            f"{missing[0]}: no such file; vocabularies of {pair[0].name} need the models that divide text"
        )
    return MarianFiles(candidates[0], pair, (models[0], models[1]))


def named_files(folder: Path, *weights: Path) -> dict[str, Value]:
    """Return the settings of a folder's `decoder.yml` or `config.yml`, which name files; empty: it has neither.

    Without them, those that Marian's training wrote beside one file of weights are the settings.

    Raises InteropError if the settings are damaged.
    """
    beside = [f"{each.name}{_OF_WEIGHTS}" for each in weights] if len(weights) == 1 else []
    for name in (*DECODER_FILES, *beside):
        if (folder / name).is_file():
            try:
                with (folder / name).open("rb") as file:
                    return read_model_yml(file.read(MAXIMUM_BYTES + 1))
            except OSError as error:
                raise InteropError(unreadable(folder / name, error)) from error
            except InteropError as error:
                raise InteropError(f"{folder / name}: {error}") from error
    return {}


def named_paths(folder: Path, value: Value, key: str) -> list[Path]:
    """Return the files that a key names, which lie in the folder whatever path they had where the model was trained.

    Raises InteropError if the folder does not have one of them.
    """
    if value is None:
        return []
    listed = value if isinstance(value, list) else [value]
    names = [Path(str(name).replace("\\", "/")).name for name in listed]
    held = {path.name for path in folder.iterdir() if path.is_file()}
    if missing := [name for name in names if name not in held]:
        raise InteropError(f"{folder}: no such file {missing[0]!r:.120}, which {key} of the model's settings names")
    return [folder / name for name in names]


def _usual(folder: Path) -> list[Path]:
    """Return the vocabularies of a folder that does not name them; if it has tables, they have the ids."""
    models, tables = _matching(folder, "*.spm"), _matching(folder, "*vocab*.yml")
    if tables:
        return _usual_tables(folder, models, tables)
    for names in _USUAL:
        if all((folder / name).is_file() for name in names):
            return [folder / name for name in names]
    if len(models) == 1:
        return models * 2
    raise InteropError(f"{folder}: no vocabularies were found: add a decoder.yml whose `vocabs` names them")


def _usual_tables(folder: Path, models: list[Path], tables: list[Path]) -> list[Path]:
    if [table.name for table in tables] == sorted(_TABLES):
        return [folder / name for name in _TABLES]
    if len(tables) > 1 or any(model.name not in _DIVIDING for model in models):
        names = ", ".join(path.name for path in (*models, *tables))
        raise InteropError(f"{folder}: has {names:.200}: add a decoder.yml whose `vocabs` names those of the model")
    return tables * 2
