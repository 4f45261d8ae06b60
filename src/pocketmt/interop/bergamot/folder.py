"""The files of a model of bergamot in its folder, found by their first bytes and their endings."""

from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final

from pocketmt.errors import ConfigurationError, InteropError, unreadable
from pocketmt.interop.bergamot.container import is_container
from pocketmt.interop.bergamot.lex_file import is_lex_file
from pocketmt.interop.hugging_face.json_file import read_json
from pocketmt.interop.marian.files import MarianFiles, named_files, named_paths
from pocketmt.interop.marian.model_yml import Value
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.text.languages import check_language

METADATA: Final = "metadata.json"
_SIDES: Final = (("src", "source"), ("trg", "target"))


@dataclass(frozen=True, slots=True)
class BergamotFiles:
    """Files of a model.

    Attributes:
        model: the network.
        shortlist: None: there is none.
        vocabularies: SentencePiece models of source and target, which may be one.
        metadata: None: there is none.
    """

    model: Path
    shortlist: Path | None
    vocabularies: tuple[Path, Path]
    metadata: Path | None

    @property
    def marian(self) -> MarianFiles:
        """The files as those of a Marian model."""
        return MarianFiles(self.model, self.vocabularies, None)

    def described(self) -> ModelMetadata:
        """Return what the metadata of a Firefox model say, without languages that are no codes.

        Raises InteropError if the file is damaged.
        """
        if self.metadata is None:
            return ModelMetadata()
        found: dict[str, Any] = read_json(self.metadata)
        codes = [_code(found.get(f"{side}Language")) for side in ("source", "target")]
        return ModelMetadata(source_language=codes[0], target_language=codes[1])


def find_files(path: Path) -> BergamotFiles:
    """Return the files of a model: those that `config.yml` names, or, without it, those that the folder has.

    A shortlist that `config.yml` does not name is not used, as in bergamot.

    Args:
        path: its folder, or its `.bin` file, where the folder has several.

    Raises InteropError if files are missing, or there are several of a kind.
    """
    folder = path.parent if path.is_file() else path
    try:
        # Files whose names begin with a dot are of the system, such as those that macOS adds to archives.
        files = sorted(each for each in folder.iterdir() if each.is_file() and not each.name.startswith("."))
    except OSError as error:
        raise InteropError(unreadable(folder, error)) from error
    named = named_files(folder)
    binary = [each for each in files if each.suffix == ".bin"]
    if named:
        shortlists = named_paths(folder, _path_of(named.get("shortlist")), "shortlist")
    else:
        # By name, too: a damaged one must not be left out.
        shortlists = [
            each for each in binary if is_lex_file(each) or (fnmatch(each.name, "lex*.bin") and not is_container(each))
        ]
    models = [path] if path.is_file() else named_paths(folder, named.get("models"), "models")
    models = models or [each for each in binary if is_container(each)]
    for kind, found in (("models", models), ("shortlists", shortlists)):
        if len(found) > 1:
            names = ", ".join(each.name for each in found)
            raise InteropError(f"{folder}: has several {kind}, {names}: keep one, in a separate folder")
    metadata = folder / METADATA
    return BergamotFiles(
        models[0],
        shortlists[0] if shortlists else None,
        _vocabularies(
            folder,
            named_paths(folder, named.get("vocabs"), "vocabs"),
            [each for each in files if each.suffix == ".spm"],
        ),
        metadata if metadata.is_file() else None,
    )


def _code(language: object) -> str:
    try:
        check_language(str(language))
    except ConfigurationError:
        return ""
    return str(language)


def _path_of(shortlist: Value) -> Value:
    """Return the file of a shortlist's setting, which may have options after it; None: it names none."""
    first = shortlist[0] if isinstance(shortlist, list) and shortlist else shortlist
    return first if isinstance(first, str) else None


def _vocabularies(folder: Path, named: list[Path], files: list[Path]) -> tuple[Path, Path]:
    if len(named) in (1, 2):
        return named[0], named[-1]
    if len(files) == 1:
        return files[0], files[0]
    sides = [[each for each in files if each.name.startswith(prefixes)] for prefixes in _SIDES]
    if len(files) != 2 or [len(side) for side in sides] != [1, 1]:
        names = ", ".join(each.name for each in files) or "none"
        raise InteropError(
            f"{folder}: expected one vocabulary, *.spm, or two, src*.spm and trg*.spm; found {names}: copy those of "
            "the model there"
        )
    return sides[0][0], sides[1][0]
