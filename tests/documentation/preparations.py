"""Files that a guide takes for granted, beside those of the tutorial."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pocketmt.cli.main import run
from pocketmt.engine.bundled import resolve_model
from tests.cli.conftest import write_random_model

ROOT: Final = Path(__file__).resolve().parents[2]


def _other_models(folder: Path) -> None:
    from tests.interop.hugging_face.folders import write_nllb  # transformers takes seconds to import.

    write_random_model(folder / "opus.pocketmt", "float32", seed=1)
    hugging_face = ["--to", "hugging-face", "--output", str(folder / "opus-mt-en-de")]
    assert run(["export", str(folder / "opus.pocketmt"), *hugging_face]) == 0
    write_nllb(folder / "nllb")
    for language in ("en", "de"):
        shutil.copy(folder / f"val.{language}", folder / f"news.{language}")


def _distil(folder: Path) -> None:
    shutil.copytree(folder / "runs" / "captions", folder / "runs" / "de-en")  # Its translations are noise either way.
    shutil.copy(folder / "val.de", folder / "news.de")


def _offline(folder: Path) -> None:
    shutil.copy(folder / "captions4.pocketmt", folder / "deployed.pocketmt")
    shutil.copy(folder / "val.en", folder / "text.en")


def _browser(folder: Path) -> None:
    shutil.copy(resolve_model("captions-en-de"), folder / "model.pocketmt")
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "pocketmt").symlink_to(ROOT / "web")


PREPARATIONS: Final[dict[str, Callable[[Path], None]]] = {
    "guides/other-models": _other_models,
    "guides/distil": _distil,
    "guides/offline": _offline,
    "guides/browser": _browser,
}
