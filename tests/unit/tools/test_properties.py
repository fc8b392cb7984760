"""What holds for any input: decoding never guesses and never breaks, strict schemas lose nothing."""

import json
from contextlib import suppress
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import create_model

from evonb.tools import ToolInputError, ToolReceipt, ToolRegistry, define_tool
from evonb.tools.arguments import as_arguments

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.text())
@settings(max_examples=200, deadline=None)
def test_any_text_is_an_object_or_a_refusal(text: str) -> None:
    with suppress(ToolInputError):
        assert isinstance(as_arguments(text), dict)


@given(st.dictionaries(st.text(), values, max_size=4))
@settings(max_examples=200, deadline=None)
def test_any_object_comes_back_as_it_was(arguments: dict[str, Any]) -> None:
    assert as_arguments(json.dumps(arguments)) == arguments


@given(st.dictionaries(st.text(), values, min_size=1, max_size=4), st.data())
@settings(max_examples=200, deadline=None)
def test_an_object_that_was_cut_off_is_refused(arguments: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(arguments)
    cut = data.draw(st.integers(min_value=1, max_value=len(text) - 1))
    with pytest.raises(ToolInputError):
        as_arguments(text[:cut])


@given(st.text() | st.binary() | values)
@settings(max_examples=100, deadline=None)
def test_any_raw_input_and_any_output_end_in_a_receipt_that_can_be_stored(raw: Any) -> None:
    def echo(value: Any = None, **more: Any) -> Any:
        """Answer with what came."""
        return [raw, value, more]

    receipt = ToolRegistry([echo]).invoke("echo", raw)
    assert receipt.status in ("completed", "invalid_input")
    assert receipt.to_model_text()
    assert ToolReceipt.model_validate_json(receipt.model_dump_json()).status == receipt.status


types = st.recursive(
    st.sampled_from([int, str, bool, float, int | None]), lambda inner: inner.map(lambda each: list[each]), max_leaves=3
)


@given(st.dictionaries(st.from_regex(r"[a-z]{1,6}", fullmatch=True), st.tuples(types, st.booleans()), max_size=4))
@settings(max_examples=50, deadline=None)
def test_null_for_all_that_had_a_default_fits_the_strict_schema_and_gives_the_defaults(fields: Any) -> None:
    shape = {name: (kind, None) if optional else (kind, ...) for name, (kind, optional) in fields.items()}
    model = create_model("Shape", **shape)

    def take(it: model) -> Any:  # type: ignore[valid-type]
        """Take it."""
        return it

    made = define_tool(take, strict=True)
    samples = {int: 1, str: "x", bool: True, float: 0.5, int | None: 2}
    sent = {name: None if optional else samples.get(kind, []) for name, (kind, optional) in fields.items()}
    jsonschema.validate({"it": sent}, made.function_schema()["function"]["parameters"])
    receipt = ToolRegistry([made]).invoke("take", {"it": sent})
    assert receipt.output == model(**{name: value for name, value in sent.items() if not fields[name][1]})
