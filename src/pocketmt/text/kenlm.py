"""The n-gram language model by KenLM, where the user has installed it (Heafield et al. 2013).

Its program `lmplz` estimates a model in bounded memory, and its Python package `kenlm` computes probabilities. The
package on PyPI has no `lmplz`, which KenLM's own build makes. Neither is a dependency of PocketMT.
"""

import importlib
import math
import shutil
import subprocess
from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any, Final

from pocketmt.errors import DataError
from pocketmt.text.language_model import ORDER

PROGRAM: Final = "lmplz"
PACKAGE: Final = "kenlm"
_MEMORY: Final = "1G"  # Beyond it, lmplz sorts on disk.
# KenLM's own symbols; normalized text has no control characters, so the mark makes words that are in no text.
_SYMBOLS: Final = frozenset({"<s>", "</s>", "<unk>"})
_MARK: Final = "\x01"


def kenlm_is_installed() -> bool:
    """Return whether both the program and the package are there."""
    return shutil.which(PROGRAM) is not None and find_spec(PACKAGE) is not None


class KenLanguageModel:
    """Probabilities of words given the two words before them, as `LanguageModel` has them."""

    def __init__(self, sentences: Iterable[Sequence[Hashable]], folder: Path, order: int = ORDER) -> None:
        """Estimate the model from sentences, as lists of words without white space.

        Args:
            sentences: the text.
            folder: for temporary files, which are as large as the text and its n-grams.
            order: largest length of an n-gram.

        Raises:
            DataError: there is no sentence, or lmplz ends with an error, e.g. because the disk is full.
        """
        with TemporaryDirectory(dir=folder, prefix="kenlm-") as name:
            path = Path(name) / "model.arpa"
            _estimate(sentences, path, order)
            package: Any = importlib.import_module(PACKAGE)
            config = package.Config()
            config.show_progress = False
            config.arpa_complain = package.ARPALoadComplain.NONE
            self._model = package.Model(str(path), config)

    def cross_entropies(self, sentences: Sequence[Sequence[Hashable]]) -> list[float]:
        """Return the cross-entropy of each sentence in nats per word, its end included; unknown words are one word."""
        return [-math.log(10) * self._model.score(_line(words)) / (len(words) + 1) for words in sentences]


def _estimate(sentences: Iterable[Sequence[Hashable]], path: Path, order: int) -> None:
    """Write the model of a text as an ARPA file."""
    remaining = iter(sentences)
    first = next(remaining, None)
    if first is None:
        raise DataError("there is no text to train a language model on: every line is empty")
    command = [PROGRAM, "--order", str(order), "--discount_fallback", "--memory", _MEMORY, "--arpa", str(path)]
    command += ["--temp_prefix", f"{path.parent}/"]
    with TemporaryFile() as messages:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=messages)
        with suppress(BrokenPipeError), process:  # The pipe breaks if lmplz ends early; it says why.
            assert process.stdin is not None
            process.stdin.writelines(_line(words) + b"\n" for words in chain((first,), remaining))
        if process.returncode != 0:
            messages.seek(0)
            last = messages.read().decode(errors="replace").strip().splitlines()[-1:]
            raise DataError(f"{PROGRAM} of KenLM ended with status {process.returncode}: {' '.join(last)}")


def _line(words: Sequence[Hashable]) -> bytes:
    """Return words, which may also be numbers of pieces, as a line of text for KenLM."""
    text = " ".join(f"{_MARK}{word}" if word in _SYMBOLS else str(word) for word in words)
    return text.encode(errors="surrogatepass")
