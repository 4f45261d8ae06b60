"""The base of all parts of a recipe, and the types of their values."""

from typing import Annotated

import msgspec
from msgspec import Meta

Positive = Annotated[int, Meta(ge=1)]
NotNegative = Annotated[int, Meta(ge=0)]
Fraction = Annotated[float, Meta(ge=0, lt=1)]
PositiveFloat = Annotated[float, Meta(gt=0, le=1e30)]
Name = Annotated[str, Meta(min_length=1)]


class Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part of a recipe: immutable; unknown keys are errors."""
