"""The published schema of model files."""

import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]

from tests.model_file import sample

PATH = Path(__file__).parents[2] / "docs" / "reference" / "model-file.schema.json"
SCHEMA: dict[str, Any] = json.loads(PATH.read_text())
HEADER_SCHEMA = jsonschema.Draft202012Validator(SCHEMA)
MANIFEST_SCHEMA = jsonschema.Draft202012Validator({"$ref": "#/$defs/manifest", "$defs": SCHEMA["$defs"]})
ARCHITECTURE_SCHEMA = jsonschema.Draft202012Validator({"$ref": "#/$defs/architecture", "$defs": SCHEMA["$defs"]})


def check_schema(content: bytes) -> None:
    """Assert that the schema describes the header of a model file and its manifest."""
    header, _ = sample.split(content)
    HEADER_SCHEMA.validate(header)
    MANIFEST_SCHEMA.validate(sample.manifest_of(header))
