"""Hashes of lines, which records of text of earlier versions hold."""

import hashlib

from pocketmt.line_digest import LineDigest


def test_a_digest_is_that_of_a_file_of_the_lines() -> None:
    digest = LineDigest()
    for line in ("Straße", "", "a\tb"):
        digest.add(line)
    assert digest.lines == 3
    assert digest.hexdigest() == hashlib.sha256("Straße\n\na\tb\n".encode()).hexdigest()


def test_lone_surrogates_are_hashed() -> None:
    one, other = LineDigest(), LineDigest()
    one.add("\ud800")
    other.add("\ud801")
    assert one.hexdigest() != other.hexdigest()
