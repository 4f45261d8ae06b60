import pytest

from tests.engine.conftest import vocabulary
from tests.web.node import BUILT, newer_file, sources

__all__ = ["newest_package", "vocabulary"]


@pytest.fixture(scope="session", autouse=True)
def newest_package() -> None:
    """Fail if the package was built of older sources: its tests would say nothing of the present ones."""
    changed = newer_file(BUILT, sources()) if BUILT.exists() else None
    if changed is not None:
        pytest.fail(f"{changed} is newer than web/dist: run `make web`", pytrace=False)
