"""The JSON Schema of a sweep file, made from the records themselves; `commbench schema` prints it."""

import json
import sys
from collections.abc import Sequence
from typing import Any

import msgspec

from commbench.arguments import Parser
from commbench.sweepfile.records import FORMAT, Record


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of one line of a sweep file of this format version."""
    made = msgspec.json.schema(Record)
    made["$defs"]["Header"]["properties"]["format"] = {"const": FORMAT, "default": FORMAT}
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"One line of a commbench sweep file, format {FORMAT}",
        "description": (
            "A sweep file is JSON Lines: one of these records a line, the header of a sweep before its other records. "
            "Seconds and bytes throughout. Readers skip record kinds and fields they do not know."
        ),
        **made,
    }
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(document))  # defaults of fields are Python's
    return plain


def main(argv: Sequence[str] | None = None) -> int:
    """`commbench schema`: print the schema as JSON. Returns 0."""
    parser = Parser("commbench schema", "Print the JSON Schema of one line of a sweep file.")
    parser.add_argument("--json", action="store_true", help="no difference: the schema is JSON")
    parser.parse_args(argv)
    sys.stdout.write(json.dumps(schema(), indent=2) + "\n")
    return 0
