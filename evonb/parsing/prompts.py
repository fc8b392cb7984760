"""What a model is told about the format that a parser expects."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from evonb.parsing.casting import required_names, schema_names
from evonb.parsing.schema import FieldSchema, OutputFormat

_HOW = {
    OutputFormat.JSON: "Answer with one JSON value and nothing else.",
    OutputFormat.YAML: "Answer with one YAML document and nothing else.",
    OutputFormat.CSV: "Answer with CSV: a header line, then one line a row.",
    OutputFormat.MARKDOWN_TABLE: "Answer with one Markdown table.",
    OutputFormat.NUMBERED_LIST: "Answer with a numbered list.",
    OutputFormat.BULLETED_LIST: "Answer with a bulleted list.",
    OutputFormat.KEY_VALUE: "Answer with lines of the form `key: value`.",
    OutputFormat.XML: "Answer with XML elements.",
    OutputFormat.TOOL_CALL: 'Answer with one JSON object {"tool_name": ..., "arguments": {...}}.',
    OutputFormat.PLAIN_TEXT: "Answer in plain text.",
}


def format_instructions(kind: OutputFormat | None, fields: Sequence[FieldSchema], schema: Any) -> str:
    """Instructions that name the format and every field, fit for the end of a prompt."""
    lines = [_HOW.get(kind or OutputFormat.JSON, _HOW[OutputFormat.JSON])]
    if fields:
        lines += ["Fields:", *(_field(field) for field in fields)]
    elif hasattr(schema, "model_json_schema"):
        lines += ["It must fit this JSON schema:", json.dumps(schema.model_json_schema(), ensure_ascii=False)]
    elif schema_names(schema):
        required = required_names(schema)
        lines += ["Fields:", *(f"- {name}{'' if name in required else ' (optional)'}" for name in schema_names(schema))]
    return "\n".join(lines)


def semantic_prompt(text: str, instructions: str, question: str) -> str:
    """Asks a model to read a text and give what it says as JSON."""
    parts = ["Read the text between the lines and give what it says.", instructions, question, f"---\n{text}\n---"]
    return "\n\n".join(part for part in parts if part)


def _field(field: FieldSchema) -> str:
    notes = [field.dtype]
    if not field.required:
        notes.append("optional" if field.default is None else f"optional, default {field.default!r}")
    if field.choices:
        notes.append("one of " + ", ".join(repr(choice) for choice in field.choices))
    return f"- {field.name} ({'; '.join(notes)}): {field.description}"
