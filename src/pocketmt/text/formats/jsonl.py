"""JSON lines: one JSON object on each line, whose fields are strings."""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final

from pocketmt.errors import DataError
from pocketmt.text.formats.format import Languages, Side, Unit, decode, number_lines, split_lines, unit_of_bytes
from pocketmt.text.formats.language_names import names_of_sides
from pocketmt.text.normalization import replace_surrogates

_IDENTIFIER: Final = "id"  # A field that holds no text.
_WHITE_SPACE: Final = " \t\n\r"  # What JSON allows around a value.


def read_units(blocks: Iterable[bytes | None], name: str, field: str, added: str) -> Iterator[Unit | None]:
    """Yield each object, to which the translation of one field is added as the last field; other bytes are unchanged.

    A blank line is passed on.

    Args:
        blocks: bytes of the file; None means that the next bytes have not arrived.
        name: name of the file in messages.
        field: name of the field to translate.
        added: name of the new field.

    Raises:
        DataError: a line is not a JSON object in UTF-8, lacks `field` as a string, or has `added`.
    """
    key = json.dumps(added, ensure_ascii=False).encode()
    for item in number_lines(split_lines(blocks)):
        if item is None:
            yield None
            continue
        number, line, end = item
        found = _read_object(line, name, number)
        if found is None:
            yield unit_of_bytes(line + end)
            continue
        text = _field(found, (field,), name, number, "name one with --field")
        if added in found:
            raise DataError(
                f"{name}, line {number}: there is a field {added!r}: name the new one with --translation-field"
            )
        before = line.rstrip().removesuffix(b"}").rstrip() + b", " + key + b": "
        lines = text.split("\n")
        returns = [each[len(each.rstrip("\r")) :] for each in lines]
        encode = partial(_encode_with_returns, returns) if any(returns) else _encode
        yield Unit(tuple(lines), before, encode, b"}" + end, number)


def read_sides(
    lines: Iterable[bytes], name: str, sides: Sequence[Side], languages: Languages | None
) -> Iterator[tuple[str, ...]]:
    """Yield the given sides of each object: its fields `source` and `target`, or those that codes of languages name.

    The fields may be within a field `translation`. The side "translation" is the field `translation` if it is a string,
    or else the target. Line feeds become spaces. A blank line has empty sides. Raises DataError if a line is not a JSON
    object in UTF-8, lacks a field as a string, or has several that may be the translation.
    """
    for item in number_lines(lines):
        assert item is not None
        number, line, _ = item
        found = _read_object(line, name, number)
        if found is None:
            yield ("",) * len(sides)
            continue
        nested = found.get("translation")
        values = nested if isinstance(nested, dict) else found
        names = _names(values, languages)
        advice = "rename the right one, or add it"
        if "translation" in sides and "translation" not in values:
            texts = {key for each in (found, values) for key, value in each.items() if isinstance(value, str)}
            others = texts - {_IDENTIFIER, *names["source"], *names["target"]}
            if others and any(each in values for each in names["target"]):
                raise DataError(
                    f"{name}, line {number}: several fields may hold the translations: name the right one 'translation'"
                )
        yield tuple(" ".join(_field(values, names[side], name, number, advice).split("\n")) for side in sides)


def _names(values: dict[str, Any], languages: Languages | None) -> dict[Side, tuple[str, ...]]:
    """Return the names of the fields that may hold each side, the preferred one first."""
    source, target = languages or ("", "")
    if languages is not None:
        found = names_of_sides(tuple(values), languages)
        source, target = found[0] or source, found[1] or target
    names: dict[Side, tuple[str, ...]] = {
        "source": ("source", source) if source else ("source",),
        "target": ("target", target) if target else ("target",),
    }
    return {**names, "translation": ("translation", *names["target"])}


def _read_object(line: bytes, name: str, number: int) -> dict[str, Any] | None:
    """Return the object of a line; None if the line is blank."""
    text = decode(line, name, number).strip(_WHITE_SPACE)
    if not text:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        # The line that the decoder counts is always the first.
        reason = f"{error.msg}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise DataError(f"{name}, line {number}: not JSON ({reason}): write one object on each line") from error
    if not isinstance(found, dict):
        raise DataError(f'{name}, line {number}: expected a JSON object, such as {{"text": "A man rides a bike."}}')
    return found


def _field(found: dict[str, Any], names: Sequence[str], name: str, number: int, advice: str) -> str:
    """Return the first field of one of the names; DataError, with advice, if there is none or it is not a string."""
    for each in names:
        if isinstance(value := found.get(each), str):
            # A lone surrogate, which JSON can escape, is not text.
            return replace_surrogates(value)
        if each in found:
            raise DataError(f"{name}, line {number}: the field {each!r} is not a string: write it in quotes")
    wanted = " or ".join(map(repr, names))
    fields = ", ".join(repr(key)[:40] for key in list(found)[:20]) or "none"
    raise DataError(f"{name}, line {number}: there is no field {wanted} (fields: {fields}): {advice}")


def _encode(translation: str) -> bytes:
    return json.dumps(translation, ensure_ascii=False).encode()


def _encode_with_returns(returns: Sequence[str], translation: str) -> bytes:
    """Encode a translation with the carriage returns at the ends of its lines, which a translation drops."""
    lines = zip(translation.split("\n"), returns, strict=True)
    return _encode("\n".join(line + end for line, end in lines))
