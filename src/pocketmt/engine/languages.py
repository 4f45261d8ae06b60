"""The languages of a model, and the pieces that stand for those that are chosen for a translation."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from pocketmt.engine.arguments import check_text
from pocketmt.errors import ConfigurationError, EngineError, LanguageNeededError, ModelFileError
from pocketmt.sentences import NumberFormats, number_formats
from pocketmt.text.language_tags import find_language, first_codes, primary_subtag, why_unknown
from pocketmt.text.vocabulary import Vocabularies, Vocabulary

if TYPE_CHECKING:  # Few models have several languages.
    from pocketmt.model_file.language_pieces import LanguagePieces


class ChosenLanguages(NamedTuple):
    """Languages of one translation.

    Attributes:
        source, target: their codes.
        sentences: the source's language as the rules for sentences name it, without script and region.
        source_id: the piece of the source's language, which every source begins with; None: there is none.
        target_id: the piece of the target's language, which every source begins with; None: there is none.
        forced: the piece that every translation begins with, and that no text shows; None: there is none.
        is_certain: whether no line can name another target language.
        needed: what to say of a line that names no target language, if none is chosen and the model needs one; empty:
            lines need not name one.
    """

    source: str
    target: str
    sentences: str
    source_id: int | None = None
    target_id: int | None = None
    forced: int | None = None
    is_certain: bool = True
    needed: str = ""

    @property
    def number_formats(self) -> NumberFormats | None:
        """How both languages write numbers; None if that of one is not known."""
        return number_formats(self.sentences, primary_subtag(self.target)) if self.is_certain else None

    def prefix(self, named: int | None) -> list[int]:
        """Return the ids that a source begins with.

        Args:
            named: the piece of the target language that the line itself names; None: it names none.

        Raises LanguageNeededError if a line must name the target language, but does not.
        """
        if named is None and self.needed:
            raise LanguageNeededError(self.needed)
        ids = (self.target_id if named is None else named, self.source_id)
        return [id for id in ids if id is not None]


class ModelLanguages:
    """The languages of a model.

    Attributes:
        defaults: codes of the source and the target, as the model file has them.
        sources, targets: all codes to choose from, in the order of the file.

    Raises ModelFileError if a vocabulary lacks the piece of a language.
    """

    def __init__(self, defaults: tuple[str, str], pieces: "LanguagePieces | None", vocabularies: Vocabularies) -> None:
        self.defaults: Final = defaults
        self._place = pieces.target_place if pieces is not None else "translation"
        target_side = vocabularies.source if self._place == "source" else vocabularies.target
        self._targets = _ids(pieces.target if pieces is not None else {}, target_side)
        self._sources = _ids(pieces.source if pieces is not None else {}, vocabularies.source)
        self.sources: Final = tuple(self._sources) or defaults[:1]
        self.targets: Final = tuple(self._targets) or defaults[1:]
        self._named: dict[str, int] = {}
        if pieces is not None and self._place == "source":
            self._named = {piece: self._targets[code] for code, piece in pieces.target.items()}

    def choose(self, source: object, target: object) -> ChosenLanguages:
        """Return what a translation from and into these languages needs; None: those of the model file.

        Codes may be other ones of the same languages: de is the language of deu_Latn. Any code may be given for a
        language that the model file does not name.

        Raises:
            TypeError: a code is no string.
            EngineError: the model does not have a language, or a code is not a language code.
            LanguageNeededError: it needs one that is not given.
        """
        source_code, source_id = self._find("source_language", source, self._sources, self.defaults[0])
        target_code, target_id = self._find("target_language", target, self._targets, self.defaults[1])
        sentences = primary_subtag(source_code)
        if self._sources and source_id is None:
            raise LanguageNeededError(_missing("source_language", "from", self.sources))
        if self._place == "translation":
            if self._targets and target_id is None:
                raise LanguageNeededError(_missing("target_language", "into", self.targets))
            return ChosenLanguages(source_code, target_code, sentences, source_id, forced=target_id)
        needed = ""
        if target_id is None:
            piece = next(iter(self._named))
            needed = f"{_missing('target_language', 'into', self.targets)}, or begin the line with a code as {piece}"
        is_certain = target is not None or not self._named
        return ChosenLanguages(
            source_code, target_code, sentences, source_id, target_id, is_certain=is_certain, needed=needed
        )

    def named_by(self, line: str) -> tuple[int | None, str]:
        """Return the piece of the target language that a line begins with, and the text after it."""
        for piece, id in self._named.items():
            if line.startswith(piece):
                return id, line[len(piece) :].lstrip()
        return None, line

    @staticmethod
    def _find(name: str, code: object, known: Mapping[str, int], default: str) -> tuple[str, int | None]:
        if code is None:
            return default, known.get(default)
        text = check_text(code, name)
        if text in known:
            return text, known[text]
        if not known and text == default:
            return text, None
        if not known and not default:
            return _checked(text, name), None
        found = find_language(text, known or (default,))
        if found is not None:
            return found, known.get(found)
        about = f"the {_in_words(name)} is {text!r:.80}"
        if not known:
            raise EngineError(f"{about}, but this model supports only {default!r}: omit it, or choose another model")
        raise EngineError(f"{about}, {why_unknown(text, known)}")


def _checked(code: str, name: str) -> str:
    """Return the code of a language that the model file does not name; raises EngineError if it is not a code."""
    from pocketmt.text.languages import check_language  # Few models name no languages.

    try:
        check_language(code, f"the {_in_words(name)}")
    except ConfigurationError as error:
        raise EngineError(str(error)) from error
    return code


def _ids(pieces: Mapping[str, str], vocabulary: Vocabulary) -> dict[str, int]:
    ids = {}
    for code, piece in pieces.items():
        id = vocabulary.id(piece)
        if id is None:
            raise ModelFileError(f"the vocabulary lacks the piece {piece!r:.80} of the language {code!r:.80}")
        ids[code] = id
    return ids


def _missing(name: str, direction: str, codes: tuple[str, ...]) -> str:
    return (
        f"the model translates {direction} several languages: give the {_in_words(name)}, one of {first_codes(codes)}"
    )


def _in_words(argument: str) -> str:
    """Return the name of an argument as words, for messages that the command line and the server show, too."""
    return argument.replace("_", " ")
