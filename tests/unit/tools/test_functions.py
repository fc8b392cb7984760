"""A function as a tool: what a model is told of it, what it accepts, how it stays a function."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from evonb.tools import (
    CancelSignal,
    FunctionTool,
    ToolError,
    ToolExecutionContext,
    ToolRegistry,
    define_tool,
    tool,
)
from evonb.typing import ToolInnerState, ToolManagerState

if TYPE_CHECKING:
    from decimal import Decimal as OnlyForTheChecker


def parameters(made: FunctionTool) -> dict[str, Any]:
    return made.function_schema()["function"]["parameters"]


# -- descriptions --------------------------------------------------------------------------------------


def google(query: str, limit: int = 5) -> str:
    """Search the archive.

    It holds every issue since 1899.

    Args:
        query (str): The words to look for.

            A second paragraph of the same argument.
        limit (int, optional): How many to return: at most 100.
            Defaults to 5.

    Returns:
        str: The hits.

    Raises:
        ValueError: Never.
    """
    return query * limit


def numpy(query: str, limit: int = 5) -> str:
    """Search the archive.

    It holds every issue since 1899.

    Parameters
    ----------
    query : str
        The words to look for.

        A second paragraph of the same argument.
    limit : int, optional
        How many to return: at most 100.
        Defaults to 5.

    Returns
    -------
    str
        The hits.
    """
    return query * limit


def sphinx(query: str, limit: int = 5) -> str:
    """Search the archive.

    It holds every issue since 1899.

    :param query: The words to look for.

        A second paragraph of the same argument.
    :type query: str
    :param int limit: How many to return: at most 100.
        Defaults to 5.
    :returns: The hits.
    """
    return query * limit


@pytest.mark.parametrize("function", [google, numpy, sphinx])
def test_descriptions_come_from_each_style_of_docstring(function: Callable[..., Any]) -> None:
    told = define_tool(function).function_schema()["function"]
    assert told["description"] == "Search the archive.\n\nIt holds every issue since 1899."
    assert told["parameters"]["properties"] == {
        "query": {
            "type": "string",
            "description": "The words to look for. A second paragraph of the same argument.",
        },
        "limit": {
            "type": "integer",
            "default": 5,
            "description": "How many to return: at most 100. Defaults to 5.",
        },
    }
    assert told["parameters"]["required"] == ["query"]
    assert told["parameters"]["additionalProperties"] is False


class Documented:
    """Stands for a documentation object in Annotated."""

    def __init__(self, documentation: str) -> None:
        self.documentation = documentation


def test_annotated_descriptions_beat_the_docstring() -> None:
    @tool
    def look(
        a: Annotated[int, "plain text"],
        b: Annotated[int, Field(description="a field", ge=1)],
        c: Annotated[int, Documented("a doc")],
        d: int = Field(default=4, description="a default field", le=9),
        e: Annotated[int, Field(description="on an optional one")] = 3,
    ) -> int:
        """Look.

        Args:
            a: from the docstring
            b: from the docstring
            c: from the docstring
            d: from the docstring
            e: from the docstring
        """
        return d

    told = parameters(look)["properties"]
    assert [told[name]["description"] for name in "abcde"] == [
        "plain text", "a field", "a doc", "a default field", "on an optional one",
    ]  # fmt: skip
    assert (told["b"]["minimum"], told["d"]["maximum"], told["d"]["default"]) == (1, 9, 4)
    assert parameters(look)["required"] == ["a", "b", "c"]
    assert ToolRegistry([look]).invoke("look", {"a": 1, "b": 1, "c": 1}).output == 4
    assert ToolRegistry([look]).invoke("look", {"a": 1, "b": 0, "c": 1}).status == "invalid_input"


def test_a_tool_without_a_description_can_run_but_not_be_told_to_a_model() -> None:
    @tool
    def silent() -> int:
        return 1

    assert ToolRegistry([silent]).invoke("silent").output == 1
    with pytest.raises(ToolError, match="has no description") as caught:
        ToolRegistry([silent]).function_schemas()
    assert "docstring" in caught.value.fix


def test_without_the_docstring_package_the_summary_stays_and_a_warning_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "docstring_parser", None)
    with pytest.warns(UserWarning, match="pip install docstring-parser"):
        made = define_tool(google)
    assert made.description == "Search the archive."
    assert "description" not in parameters(made)["properties"]["query"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        define_tool(len_of)  # one line needs no package


def len_of(text: str) -> int:
    """Count the characters."""
    return len(text)


# -- types ---------------------------------------------------------------------------------------------


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Item(BaseModel):
    name: str
    tags: list[str] = []


@dataclass
class Point:
    x: int
    y: int = 0


def test_types_become_valid_json_schema_and_back() -> None:
    import jsonschema

    @tool
    def order(
        names: list[str],
        counts: dict[str, int],
        speed: Literal["slow", "fast"],
        item: Item,
        where: Point,
        colour: Colour,
        day: date,
        note: str | None = None,
    ) -> list[Any]:
        """Order things."""
        return [names, counts, speed, item, where, colour, day, note]

    schema = parameters(order)
    jsonschema.Draft202012Validator.check_schema(schema)
    told = schema["properties"]
    assert told["names"] == {"type": "array", "items": {"type": "string"}}
    assert told["counts"] == {"type": "object", "additionalProperties": {"type": "integer"}}
    assert told["speed"] == {"type": "string", "enum": ["slow", "fast"]}
    assert told["note"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    arguments = {
        "names": ["a"], "counts": {"b": 1}, "speed": "fast", "item": {"name": "n"}, "where": {"x": 1},
        "colour": "red", "day": "2026-11-30",
    }  # fmt: skip
    jsonschema.validate(arguments, schema)
    receipt = ToolRegistry([order]).invoke("order", arguments)
    assert receipt.output == [
        ["a"], {"b": 1}, "fast", Item(name="n"), Point(1), Colour.RED, date(2026, 11, 30), None,
    ]  # fmt: skip


def test_a_fault_deep_inside_is_named_by_its_path() -> None:
    @tool
    def pack(items: list[Item]) -> int:
        """Pack."""
        return len(items)

    receipt = ToolRegistry([pack]).invoke("pack", {"items": [{"name": "a"}, {"name": "b", "tags": ["x", 3]}]})
    assert receipt.error is not None
    assert [fault.field for fault in receipt.error.fields] == ["items[1].tags[1]"]


def test_parameters_may_have_any_name() -> None:
    @tool
    def odd(copy: int, json: int, model_config: int, schema: int, _hidden: int, title: int) -> list[int]:
        """Take odd names."""
        return [copy, json, model_config, schema, _hidden, title]

    names = ["copy", "json", "model_config", "schema", "_hidden", "title"]
    assert list(parameters(odd)["properties"]) == names
    assert ToolRegistry([odd]).invoke("odd", dict.fromkeys(names, 1)).output == [1] * 6


def test_a_type_of_the_surrounding_function_is_found() -> None:
    class Local(BaseModel):
        x: int

    @tool
    def use(it: Local, many: list[Local]) -> int:
        """Use it."""
        return it.x + many[0].x

    assert ToolRegistry([use]).invoke("use", {"it": {"x": 1}, "many": [{"x": 2}]}).output == 3


def test_a_type_that_is_only_there_for_the_checker_is_named() -> None:
    with pytest.raises(ToolError, match="the type 'OnlyForTheChecker' of parameter 'price'") as caught:

        @tool
        def pay(price: OnlyForTheChecker, when: Missing) -> None:  # type: ignore[name-defined]  # noqa: F821
            """Pay."""

    assert "of parameter 'when'" in caught.value.what
    assert "TYPE_CHECKING" in caught.value.fix
    assert "pay" in caught.value.where


def test_a_result_type_that_is_only_there_for_the_checker_costs_the_check_and_nothing_else() -> None:
    @tool
    def price() -> OnlyForTheChecker:
        """Tell the price."""
        return 3  # type: ignore[return-value]

    assert ToolRegistry([price]).invoke("price").output == 3


def test_a_type_with_no_schema_is_named() -> None:
    class Engine:
        pass

    with pytest.raises(ToolError, match="parameters 'engine', 'callback' can't be described") as caught:

        @tool
        def start(engine: Engine, speed: int, callback: Callable[[], None]) -> None:
            """Start."""

    assert "start" in caught.value.where


def test_a_result_of_a_foreign_class_is_checked_by_its_class() -> None:
    class Engine:
        pass

    @tool
    def build(right: bool) -> Engine:
        """Build."""
        return Engine() if right else "no engine"  # type: ignore[return-value]

    assert ToolRegistry([build]).invoke("build", {"right": True}).ok
    assert ToolRegistry([build]).invoke("build", {"right": False}).status == "invalid_output"


def test_named_extras_are_open_and_typed() -> None:
    @tool
    def tag(name: str, **more: int) -> dict[str, int]:
        """Tag."""
        return more

    assert parameters(tag)["additionalProperties"] == {"type": "integer"}
    calls = ToolRegistry([tag])
    assert calls.invoke("tag", {"name": "n", "x": 1, "y": "2"}).output == {"x": 1, "y": 2}
    assert calls.invoke("tag", {"name": "n", "x": "many"}).status == "invalid_input"


def test_positional_only_and_keyword_only_parameters_are_given_by_name() -> None:
    @tool
    def mix(a: int, b: int = 2, /, c: int = 3, *, d: int) -> list[int]:
        """Mix."""
        return [a, b, c, d]

    calls = ToolRegistry([mix])
    assert calls.invoke("mix", {"a": 1, "d": 4}).output == [1, 2, 3, 4]
    assert calls.invoke("mix", {"a": 1, "b": 9, "c": 8, "d": 4}).output == [1, 9, 8, 4]


def test_a_mutable_default_is_not_shared_by_calls() -> None:
    @tool
    def fill(to: list[int] = Field(default_factory=list)) -> list[int]:  # noqa: B008
        """Fill."""
        to.append(1)
        return to

    calls = ToolRegistry([fill])
    assert [calls.invoke("fill").output for _ in range(2)] == [[1], [1]]


def test_star_args_are_refused() -> None:
    with pytest.raises(ToolError, match=r"'\*rest' can't be filled by name"):

        @tool
        def many(first: int, *rest: int) -> None:
            """Take many."""


@pytest.mark.parametrize("name", ["has space", "", "ü", "x" * 65, "a.b"])
def test_a_name_that_servers_refuse_is_refused_with_one_they_take(name: str) -> None:
    if not name:
        name = "(" * 3
    with pytest.raises(ToolError, match="can't be the name") as caught:
        define_tool(len_of, name=name)
    assert define_tool(len_of, name=caught.value.fix.partition("'")[2].rstrip("'")).id


# -- decorators and callables --------------------------------------------------------------------------


def wrapped_timing(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def bare_timing(function: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


@pytest.mark.parametrize("decorator", [wrapped_timing, bare_timing])
def test_the_schema_under_a_decorator_is_that_of_the_inner_function(
    decorator: Callable[[Callable[..., Any]], Callable[..., Any]],
) -> None:
    @tool
    @decorator
    @decorator
    def fetch(urls: list[str], counts: dict[str, int], mode: Literal["a", "b"], item: Item) -> int:
        """Fetch.

        Args:
            urls: where from
        """
        return len(urls)

    assert fetch.id == "fetch"
    assert fetch.description == "Fetch."
    assert list(parameters(fetch)["properties"]) == ["urls", "counts", "mode", "item"]
    assert parameters(fetch)["properties"]["urls"]["description"] == "where from"
    arguments = {"urls": ["u"], "counts": {}, "mode": "a", "item": {"name": "n"}}
    assert ToolRegistry([fetch]).invoke("fetch", arguments).output == 1


def test_a_decorator_that_hides_several_functions_is_refused() -> None:
    def retry(function: Callable[..., Any], on_failure: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except ValueError:
                return on_failure()

        return wrapper

    with pytest.raises(ToolError, match=r"takes only \*args and \*\*kwargs") as caught:
        tool(retry(len_of, print))
    assert "functools.wraps" in caught.value.fix


def test_a_sync_decorator_around_an_async_function_is_told_apart() -> None:
    @bare_timing
    async def later(x: int) -> int:
        """Later."""
        return x

    assert ToolRegistry([define_tool(later)]).invoke("later", {"x": 1}).status == "failed"
    assert ToolRegistry([define_tool(later, mode="async")]).invoke("later", {"x": 1}).output == 1


def test_partials_hide_what_they_fill() -> None:
    made = define_tool(functools.partial(google, limit=2))
    assert made.id == "google"
    assert list(parameters(made)["properties"]) == ["query"]
    assert ToolRegistry([made]).invoke("google", {"query": "ab"}).output == "abab"


def test_callable_objects_bound_methods_and_builtins() -> None:
    class Multiply:
        """Unused."""

        def __init__(self, by: int) -> None:
            self.by = by

        def __call__(self, x: int) -> int:
            """Multiply."""
            return x * self.by

        def plus(self, x: int) -> int:
            """Add."""
            return x + self.by

    three = Multiply(3)
    calls = ToolRegistry([define_tool(three, name="times"), three.plus])
    assert calls.invoke("times", {"x": 2}).output == 6
    assert calls.invoke("plus", {"x": 2}).output == 5
    assert calls.get("times").description == "Multiply."


@pytest.mark.parametrize("thing", [Item, 3, "text", None])
def test_what_is_no_function_is_refused(thing: Any) -> None:
    with pytest.raises(ToolError, match="A function was expected"):
        define_tool(thing)


def test_generators_are_refused_with_the_way_to_stream() -> None:
    async def pieces() -> Any:
        """Yield."""
        yield 1

    with pytest.raises(ToolError, match="yields") as caught:
        tool(pieces)
    assert "stream_writer" in caught.value.fix


def test_a_tool_stays_callable_as_the_function_it_was() -> None:
    made = tool(google)
    assert made("a", 2) == "aa"
    assert (made.__name__, made.__doc__, made.__wrapped__) == ("google", google.__doc__, google)  # type: ignore[attr-defined]


# -- methods -------------------------------------------------------------------------------------------


class Shop:
    def __init__(self, name: str) -> None:
        self.name = name

    @tool
    def order(self, what: str) -> str:
        """Order."""
        return f"{what} from {self.name}"

    @tool
    def count(self, inner_state: ToolInnerState) -> int:
        """Count the calls."""
        inner_state.state["n"] = inner_state.state.get("n", 0) + 1
        return int(inner_state.state["n"])

    @staticmethod
    @tool
    def hours(day: str) -> str:
        """Tell the hours."""
        return f"{day}: 9-17"

    @tool
    @staticmethod
    def phone() -> str:
        """Tell the number."""
        return "123"

    @classmethod
    @tool
    def brand(cls, suffix: str) -> str:
        """Tell the brand."""
        return cls.__name__ + suffix


def test_methods_are_tools_of_their_instance() -> None:
    one, two = Shop("one"), Shop("two")
    assert ToolRegistry([one.order]).invoke("order", {"what": "tea"}).output == "tea from one"
    assert ToolRegistry([two.order]).invoke("order", {"what": "tea"}).output == "tea from two"
    assert one.order("tea") == "tea from one"
    assert list(parameters(one.order)["properties"]) == ["what"]
    assert one.order is one.order


def test_a_method_without_its_instance_is_refused() -> None:
    with pytest.raises(ToolError, match="'order' is a method") as caught:
        ToolRegistry([Shop.order])
    assert "instance.order" in caught.value.fix


def test_static_and_class_methods_are_tools() -> None:
    calls = ToolRegistry([Shop.hours, Shop.phone, Shop.brand])
    assert calls.invoke("hours", {"day": "Mon"}).output == "Mon: 9-17"
    assert calls.invoke("phone").output == "123"
    assert calls.invoke("brand", {"suffix": "!"}).output == "Shop!"


def test_each_instance_remembers_for_itself() -> None:
    one, two = Shop("one"), Shop("two")
    first, second = ToolRegistry([one.count]), ToolRegistry([two.count])
    assert [first.invoke("count").output for _ in range(2)] == [1, 2]
    assert second.invoke("count").output == 1


# -- what is handed in ---------------------------------------------------------------------------------


def test_what_the_runtime_hands_in_stays_hidden_from_the_model() -> None:
    @tool
    def look(
        x: int,
        context: ToolExecutionContext,
        stop: CancelSignal,
        memory: ToolInnerState | None,
        stream_writer: Any,
    ) -> list[bool]:
        """Look."""
        assert memory is not None
        return [context.signal is stop, stop.aborted, memory.state == {}, stream_writer is context.stream_writer]

    assert list(parameters(look)["properties"]) == ["x"]
    assert ToolRegistry([look]).invoke("look", {"x": 1}).output == [True, False, True, True]
    assert ToolRegistry([look]).invoke("look", {"x": 1, "stop": 1}).status == "invalid_input"


def test_a_parameter_can_be_excluded_if_it_has_a_default() -> None:
    made = define_tool(google, exclude=["limit"])
    assert list(parameters(made)["properties"]) == ["query"]
    with pytest.raises(ToolError, match="excluded parameter 'query' has no default"):
        define_tool(google, exclude=["query"])


def test_what_tools_remember_can_be_saved_and_restored() -> None:
    @tool(inner_state=ToolInnerState(state={"folder": "/"}))
    def change(to: str, inner_state: ToolInnerState) -> str:
        """Change the folder."""
        inner_state.state["folder"] += to
        return str(inner_state.state["folder"])

    calls = ToolRegistry([change, len_of])
    saved = calls.dump_state()
    assert calls.invoke("change", {"to": "home/"}).output == "/home/"
    assert saved.state["change"].state == {"folder": "/"}
    calls.load_state(ToolManagerState.model_validate_json(saved.model_dump_json()))
    assert calls.invoke("change", {"to": "tmp/"}).output == "/tmp/"
    assert list(saved.state) == ["change"]


def test_a_state_that_fits_no_tool_is_refused_whole() -> None:
    @tool(inner_state=ToolInnerState(state={"n": 1}))
    def remember(inner_state: ToolInnerState) -> int:
        """Tell."""
        return int(inner_state.state["n"])

    calls = ToolRegistry([remember, len_of])
    other = ToolInnerState(state={"n": 2})
    with pytest.raises(ToolError, match="There is no tool 'remembr'"):
        calls.load_state(ToolManagerState(state={"remember": other, "remembr": other}))
    with pytest.raises(ToolError, match="has no inner state"):
        calls.load_state(ToolManagerState(state={"remember": other, "len_of": other}))
    assert calls.invoke("remember").output == 1
