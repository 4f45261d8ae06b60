"""Hostile files: each is refused with a ModelFileError that says where and why, and nothing else ever happens."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pocketmt.errors import ModelFileError
from pocketmt.model_file import open_model
from pocketmt.model_file.report import inspect_model
from tests.model_file import sample
from tests.model_file.attack import DATA, HEADER, SAMPLE, refused

Json = dict[str, Any]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile") / "hostile.pocketmt"


def refused_or_sound(path: Path, content: bytes) -> None:
    """A changed file whose digest fits may happen to be a good one: then all that is promised of one must hold."""
    path.write_bytes(content)
    try:
        file = open_model(path)
    except ModelFileError as error:
        assert str(error).startswith(str(path))
        return
    with file:
        end = 0
        for entry in file.tensors.values():
            assert entry.offset % 64 == 0
            assert end <= entry.offset
            end = entry.offset + entry.size
        assert end <= len(content)
        try:
            file.vocabulary()
        except ModelFileError as error:
            assert "vocabulary" in str(error)
    report = inspect_model(path)
    report.to_text().encode()
    json.loads(report.to_json())


def test_truncated(path: Path) -> None:
    """To every length near the ends, and to every third between them."""
    path.write_bytes(SAMPLE)
    for length in reversed(range(len(SAMPLE))):
        if length % 3 and 100 <= length < len(SAMPLE) - 100:
            continue
        os.truncate(path, length)
        with pytest.raises(ModelFileError, match=r"hostile\.pocketmt: "):
            open_model(path)


def test_bytes_appended(path: Path) -> None:
    refused(path, SAMPLE + bytes(64), "cut off or appended to")


@given(bit=st.integers(0, 8 * len(SAMPLE) - 1))
@settings(max_examples=150, deadline=None)
def test_any_flipped_bit_is_noticed(path: Path, bit: int) -> None:
    content = bytearray(SAMPLE)
    content[bit // 8] ^= 1 << bit % 8
    refused(path, bytes(content))


@given(
    changes=st.lists(
        st.tuples(st.integers(0, len(SAMPLE) - len(DATA) - 1), st.integers(0, 255)), min_size=1, max_size=3
    )
)
@settings(max_examples=250, deadline=None)
def test_header_bytes_changed_under_a_fitting_digest(path: Path, changes: list[tuple[int, int]]) -> None:
    content = bytearray(SAMPLE)
    for position, byte in changes:
        content[position] = byte
    refused_or_sound(path, sample.sealed(bytes(content)))


@given(changes=st.lists(st.tuples(st.integers(1, len(DATA)), st.integers(0, 255)), min_size=1, max_size=8))
@settings(max_examples=100, deadline=None)
def test_data_bytes_changed_under_a_fitting_digest(path: Path, changes: list[tuple[int, int]]) -> None:
    content = bytearray(SAMPLE)
    for from_end, byte in changes:
        content[-from_end] = byte
    refused_or_sound(path, sample.sealed(bytes(content)))


VALUES = st.one_of(
    st.sampled_from([0, -1, 1, 2, 63, 64, 2**31, 2**32, 2**63 - 1, 2**63, 2**64, 10**400, 0.5, 1e300, True, False]),
    st.sampled_from([None, "", "U8", "F32", "I8", "BF16", "F64", "row", "\0", "\ud800", "vocabulary", "padding.0"]),
    st.sampled_from([[], {}, [[]], [0], [0, 0], [2**62, 2**62, 4], [-64, 0], {"bits": 8}, float("nan"), float("inf")]),
    st.integers(-1000, 1000),
)


def places(value: object, path: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    if path:
        yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield from places(member, (*path, key))


def changed(root: Json, place: tuple[Any, ...], action: str, value: object) -> Json:
    root = json.loads(json.dumps(root))
    parent: Any = root
    for key in place[:-1]:
        parent = parent[key]
    if action == "replace":
        parent[place[-1]] = value
    elif action == "remove":
        del parent[place[-1]]
    elif isinstance(parent, list):
        parent.append(value)
    else:
        parent[str(value)] = parent[place[-1]]
    return root


ACTIONS = st.sampled_from(["replace", "replace", "remove", "add"])


@given(place=st.sampled_from(sorted(places(HEADER), key=str)), action=ACTIONS, value=VALUES)
@settings(max_examples=300, deadline=None)
def test_a_header_entry_changed_under_a_fitting_digest(
    path: Path, place: tuple[Any, ...], action: str, value: object
) -> None:
    refused_or_sound(path, sample.join(changed(HEADER, place, action, value), DATA))


@given(place=st.sampled_from(sorted(places(sample.MANIFEST), key=str)), action=ACTIONS, value=VALUES)
@settings(max_examples=300, deadline=None)
def test_a_manifest_member_changed_under_a_fitting_digest(
    path: Path, place: tuple[Any, ...], action: str, value: object
) -> None:
    about = changed(sample.MANIFEST, place, action, value)
    refused_or_sound(path, sample.join(sample.with_manifest(HEADER, about), DATA))
