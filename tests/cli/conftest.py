import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import torch

from pocketmt.model_file.architecture import TransformerArchitecture
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.models.transformer import Transformer
from pocketmt.packing.contents import ModelContents
from pocketmt.packing.model_file import pack
from pocketmt.text.vocabulary_training import train_vocabulary

SOURCES = ["a red house", "the green tree and a bird", "two dogs see the house", "a bird", "the tree is green"]
Run = Callable[..., subprocess.CompletedProcess[bytes]]


def command_line(*arguments: str | Path) -> list[str]:
    """Return a command line of the installed `pocketmt`."""
    return [str(Path(sys.executable).with_name("pocketmt")), *map(str, arguments)]


def limit_files(size: int) -> None:
    """Limit files that this process writes to a size, above which writes fail as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.fixture
def pocketmt(commands: Path) -> Run:
    """Run the command and return its status, stdout and stderr, as bytes.

    It runs in a separate process: a new one if the environment or a handler of signals is changed, or else a fork of
    one that has imported PyTorch, which saves seconds.
    """

    def run(
        *arguments: str | Path,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        before: Callable[[], None] | None = None,
        largest_file: int | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        fork = environment is None and before is None
        return subprocess.run(
            [str(commands / "pocketmt"), *map(str, arguments)] if fork else command_line(*arguments),
            input=stdin,
            capture_output=True,
            check=False,
            timeout=300,
            env={**os.environ, **(environment or {})},
            preexec_fn=before if largest_file is None else lambda: limit_files(largest_file),
        )

    return run


@pytest.fixture(scope="session")
def random_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model file with random weights: its translations are noise, and the same in every run."""
    path = tmp_path_factory.mktemp("model") / "random.pocketmt"
    write_random_model(path, "uniform8", seed=1)
    return path


@pytest.fixture(scope="session")
def another_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "another.pocketmt"
    write_random_model(path, "float32", seed=2)
    return path


def write_random_model(
    path: Path, scheme: str, seed: int, target_language: str = "de", source_language: str = "en"
) -> None:
    vocabulary = train_vocabulary(SOURCES * 20, 60)
    architecture = TransformerArchitecture(
        encoder_layers=1,
        decoder_layers=1,
        model_dimension=32,
        feed_forward_dimension=32,
        attention_heads=2,
        attention_dimension=32,
        norm="post",
        attention_bias=False,
        vocabulary_size=len(vocabulary),
    )
    torch.manual_seed(seed)
    weights = Transformer(architecture).state_dict()
    pack(
        path,
        ModelContents(
            weights,
            architecture,
            vocabulary.model,
            scheme,
            ModelMetadata(source_language=source_language, target_language=target_language),
        ),
    )


@pytest.fixture
def copied_text(text: Path) -> Path:
    """The lines of `text` in another file, as its references."""
    return Path(shutil.copy(text, text.with_name("copy.en")))


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "source.en"
    path.write_text("".join(line + "\n" for line in SOURCES))
    return path
