"""The documented types: defaults, reprs, properties, and the schemas with and without pydantic."""

from __future__ import annotations

import subprocess
import sys
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import evonb.parsing as public
from evonb.parsing import (
    AnswerSchema,
    FieldSchema,
    FixStrategy,
    OutputFormat,
    ParseMode,
    ParseResult,
    ParseTrace,
    RankedAnswersSchema,
    RetrievalResultSchema,
    ToolCallSchema,
    ValidationResult,
    ValidationStatus,
)

ROOT = str(Path(__file__).parents[3])


def test_every_public_name_is_there() -> None:
    assert all(hasattr(public, name) for name in public.__all__)
    assert len(set(public.__all__)) == len(public.__all__)


@pytest.mark.parametrize(
    ("enum", "values"),
    [
        (
            OutputFormat,
            "json yaml csv markdown_table numbered_list bulleted_list key_value xml tool_call plain_text mixed unknown",
        ),
        (ParseMode, "strict lenient semantic tool_call"),
        (FixStrategy, "regex_repair llm_reformat field_injection fallback_parse none"),
    ],
)
def test_enums_have_the_documented_values(enum: type[Enum], values: str) -> None:
    assert [member.value for member in enum] == values.split()
    assert [member.name for member in enum] == values.upper().split()


def test_validation_statuses() -> None:
    assert [status.name for status in ValidationStatus] == ["PASSED", "FAILED", "WARNING", "SKIPPED"]


def test_validation_result_passes_only_when_passed() -> None:
    assert [ValidationResult(status).passed for status in ValidationStatus] == [True, False, False, False]
    assert (
        repr(ValidationResult(ValidationStatus.FAILED, "n", "bad")) == "ValidationResult(FAILED, field='n', msg='bad')"
    )


def test_trace_defaults_and_summary() -> None:
    trace = ParseTrace("raw")
    assert (trace.detected_format, trace.parse_mode, trace.fix_applied) == (
        OutputFormat.UNKNOWN,
        ParseMode.LENIENT,
        FixStrategy.NONE,
    )
    trace.add_error("e")
    trace.add_warning("w")
    trace.add_validation(ValidationResult(ValidationStatus.PASSED))
    trace.add_validation(ValidationResult(ValidationStatus.FAILED))
    trace.duration_ms = 1.23456
    assert trace.summary() == {
        "success": False,
        "detected_format": "unknown",
        "parse_mode": "lenient",
        "fix_applied": "none",
        "retries": 0,
        "errors": ["e"],
        "warnings": ["w"],
        "validation_passed": 1,
        "validation_failed": 1,
        "duration_ms": 1.23,
    }


def test_traces_share_nothing() -> None:
    one, two = ParseTrace("a"), ParseTrace("b")
    one.add_error("x")
    assert two.errors == []


@pytest.mark.parametrize("value", [[], {}, 0, "", False])
def test_an_empty_value_is_ok(value: Any) -> None:
    assert ParseResult(value).ok


def test_only_none_is_not_ok() -> None:
    assert not ParseResult(None).ok
    assert repr(ParseResult({})) == "ParseResult(ok=True, type=dict)"


def test_as_typed_keeps_an_instance_and_builds_from_a_dict() -> None:
    answer = AnswerSchema(answer="x")
    assert ParseResult(answer).as_typed(AnswerSchema) is answer
    assert ParseResult({"answer": "x"}).as_typed(AnswerSchema) == answer


def test_as_typed_refuses_anything_else() -> None:
    with pytest.raises(TypeError, match="Cannot cast"):
        ParseResult(["x"]).as_typed(AnswerSchema)


def test_field_schema_refuses_an_unknown_type() -> None:
    with pytest.raises(ValueError, match="dtype 'date'"):
        FieldSchema("day", "a day", dtype="date")


def test_field_schema_names_and_defaults() -> None:
    field = FieldSchema("a", "what", aliases=["b", "c"])
    assert field.all_names == ["a", "b", "c"]
    assert (field.dtype, field.required, field.default, field.choices) == ("str", True, None, None)
    assert {"str", "int", "float", "bool", "list", "dict"} == FieldSchema.VALID_DTYPES


@pytest.mark.parametrize(
    ("required", "choices", "value", "status"),
    [
        (True, None, None, "FAILED"),
        (False, None, None, "SKIPPED"),
        (True, None, "x", "PASSED"),
        (True, ["x"], "x", "PASSED"),
        (True, ["x"], "y", "FAILED"),
        (True, None, "", "PASSED"),
    ],
)
def test_validate_value(required: bool, choices: list[str] | None, value: Any, status: str) -> None:
    assert FieldSchema("f", "", required=required, choices=choices).validate_value(value).status.name == status


@pytest.mark.parametrize(
    ("given", "kept"), [(0.3, 0.3), (1.5, 1.0), (-2, 0.0), ("0.5", 0.5), ("very", 1.0), (None, 1.0), ([], 1.0)]
)
def test_confidence_is_clamped_and_never_fails(given: Any, kept: float) -> None:
    assert AnswerSchema.model_validate({"answer": "x", "confidence": given}).confidence == kept


def test_answer_needs_an_answer() -> None:
    with pytest.raises(ValidationError):
        AnswerSchema.model_validate({})


def test_ranked_answers() -> None:
    ranked = RankedAnswersSchema(answers=[AnswerSchema(answer="a"), AnswerSchema(answer="b")], best_index=1)
    assert ranked.best.answer == "b"
    with pytest.raises(IndexError):
        _ = RankedAnswersSchema(answers=[AnswerSchema(answer="a")], best_index=3).best
    with pytest.raises(ValidationError):
        RankedAnswersSchema(answers=[])


def test_other_schemas_have_their_defaults() -> None:
    assert ToolCallSchema(tool_name="t").model_dump() == {"tool_name": "t", "arguments": {}, "thought": None}
    assert RetrievalResultSchema(content="c").model_dump() == {
        "content": "c",
        "source": None,
        "score": None,
        "metadata": {},
    }
    with pytest.raises(ValidationError):
        RetrievalResultSchema(content="c", score=1.2)


def run_python(program: str) -> str:
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {ROOT!r})\n{program}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


WITHOUT_PYDANTIC = """
sys.modules["pydantic"] = None
from dataclasses import is_dataclass, asdict
from evonb.parsing import *
from evonb.parsing import PYDANTIC_AVAILABLE, OutputParser, AnswerSchema, RankedAnswersSchema, ToolCallSchema
assert PYDANTIC_AVAILABLE is False
"""


def test_without_pydantic_the_schemas_are_dataclasses_with_the_same_fields() -> None:
    program = """
for schema in (AnswerSchema, ToolCallSchema, RetrievalResultSchema, RankedAnswersSchema):
    assert is_dataclass(schema), schema
one, two = AnswerSchema("x"), AnswerSchema("y")
one.sources.append("s")
assert two.sources == []
assert asdict(two) == {"answer": "y", "sources": [], "confidence": 1.0, "reasoning": None}
assert RankedAnswersSchema([one, two], 1).best is two
print("fine")
"""
    assert run_python(WITHOUT_PYDANTIC + program) == "fine"


def test_without_pydantic_a_reply_becomes_the_dataclass() -> None:
    program = """
result = OutputParser(schema=AnswerSchema).parse('{"answer": "Oslo", "sources": ["a"], "extra": 1}')
assert isinstance(result.data, AnswerSchema) and result.data.answer == "Oslo" and result.trace.success, result.trace
calls = OutputParser(schema=ToolCallSchema, mode=ParseMode.TOOL_CALL).parse('{"name": "f", "arguments": {"a": 1}}')
assert calls.data == ToolCallSchema("f", {"a": 1}), calls.data
print("fine")
"""
    assert run_python(WITHOUT_PYDANTIC + program) == "fine"


def test_importing_and_reading_json_loads_no_optional_package() -> None:
    program = """
from evonb.parsing import OutputParser
OutputParser().parse("{'a': 1,}")
print([name for name in ("ruamel", "json_repair", "defusedxml", "markdown_it", "IPython") if name in sys.modules])
"""
    assert run_python(program) == "[]"


@pytest.mark.parametrize(
    ("package", "kind", "text"), [("ruamel.yaml", "yaml", "a: 1"), ("defusedxml", "xml", "<a>1</a>")]
)
def test_a_missing_package_is_named_in_the_trace_with_its_extra(package: str, kind: str, text: str) -> None:
    program = f"""
sys.modules[{package!r}] = None
sys.modules[{package + ".ElementTree"!r}] = None
from evonb.parsing import OutputParser, OutputFormat
result = OutputParser().parse({text!r}, OutputFormat({kind!r}))
print(result.data, result.trace.errors)
"""
    answer = run_python(program)
    assert answer.startswith("None")
    assert "evonb[parsing]" in answer
    assert package.partition(".")[0] in answer
