"""The build of the npm package, without its tools."""

from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from tools import build_web


def test_an_interrupted_build_leaves_no_part_of_an_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted = True

    def run(*command: str | Path) -> None:
        if "wasm-opt" not in command:
            return
        Path(command[command.index("-o") + 1]).write_bytes(b"part" if interrupted else b"whole")
        if interrupted:
            raise KeyboardInterrupt

    for name in ("PATH", "ZIG_GLOBAL_CACHE_DIR"):
        monkeypatch.setenv(name, "/nowhere")  # The build changes them.
    spec = ModuleSpec("ziglang", None)
    spec.submodule_search_locations = ["/nowhere"]
    monkeypatch.setattr(build_web, "find_spec", lambda _: spec)
    monkeypatch.setattr(build_web, "run", run)
    monkeypatch.setattr(build_web, "BUILD", tmp_path / "build")
    monkeypatch.setattr(build_web, "DIST", tmp_path)
    (tmp_path / "build" / "engine").mkdir(parents=True)
    for instruction_set in build_web.ENGINES.values():
        (tmp_path / "build" / "engine" / f"pocketmt_{instruction_set}.wasm").touch()
    with pytest.raises(KeyboardInterrupt):
        build_web.build_engines()
    interrupted = False
    build_web.build_engines()
    built = {name: (tmp_path / f"pocketmt-{name}.wasm").read_bytes() for name in build_web.ENGINES}
    assert built == dict.fromkeys(build_web.ENGINES, b"whole")
