"""Pins the newest versions of all that developing needs in requirements.lock (`make lock`).

    python3.11 tools/lock.py TORCH_INDEX

Installs the `dev` extra of pyproject.toml into an empty virtual environment and writes down what came. PyTorch alone
keeps the version it had: recorded results were made with it, and it is changed on purpose. Run it with Python 3.11 on
Linux x86-64.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"


def requirements(extra: str) -> list[str]:
    """Return the requirements of an extra of pyproject.toml, the runtime's and those of extras it names included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found: list[str] = list(project["dependencies"])
    for requirement in project["optional-dependencies"][extra]:
        named = re.fullmatch(r"pocketmt\[(\w+)\]", requirement)
        found += requirements(named[1]) if named else [requirement]
    return found


def main(torch_index: str) -> None:
    """Write the lock file."""
    old = LOCK.read_text(encoding="utf-8").splitlines()
    comment = [line for line in old if line.startswith("#")]
    torch = next(line for line in old if line.startswith("torch=="))
    with tempfile.TemporaryDirectory() as folder:
        python = str(Path(folder) / "bin" / "python")
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [python, "-m", "pip", "--disable-pip-version-check"]
        index = ["--retries", "1", "--extra-index-url", torch_index]
        subprocess.run([*pip, "install", "--no-deps", *index, torch], check=True)
        subprocess.run([*pip, "install", torch, *requirements("dev")], check=True)
        pins = subprocess.run([*pip, "freeze", "--all"], check=True, capture_output=True, text=True).stdout.splitlines()
    # What follows a "+" names a build (2.13.0+cpu); the pin takes any build of that version.
    kept = sorted((pin.partition("+")[0] for pin in pins if not pin.startswith("pip==")), key=str.lower)
    LOCK.write_text("\n".join([*comment, *kept]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
