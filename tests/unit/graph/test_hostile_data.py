"""Saved graphs that somebody made to do harm, or that are broken, are refused in words; nothing of them is run."""

from __future__ import annotations

import base64
import copy
import functools
import importlib
import itertools
import json
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import pytest

from evonb.errors import EvonbError, GraphError
from evonb.graph import GraphBuilder
from evonb.graph.loading import Loader
from evonb.graph.trust import signed

RUN: list[str] = []


class State(TypedDict):
    n: int


def node(state: Any) -> dict[str, int]:
    return {"n": state["n"] + 1}


def node_with(state: Any, *, plus: int) -> dict[str, int]:
    return {"n": state["n"] + plus}


def harm() -> None:
    RUN.append("harm")


class Harmful:
    def __reduce__(self) -> Any:
        return harm, ()


@pytest.fixture(autouse=True)
def _own_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVONB_DATA_DIR", str(tmp_path / "data"))
    RUN.clear()


def saved() -> dict[str, Any]:
    builder = GraphBuilder(State)
    builder.add_node("a", node)
    builder.set_entry_point("a")
    data: dict[str, Any] = json.loads(json.dumps(builder.dumps()))
    return data


def refused(data: Any) -> str:
    with pytest.raises(EvonbError) as caught:
        GraphBuilder.loads(data).build().run_sync({"n": 1})
    assert RUN == []
    return str(caught.value)


CODE = f"__import__('sys').modules[{__name__!r}].harm()"


def key(**fields: Any) -> dict[str, Any]:
    return {"name": "n", "type": {"form": "Any"}, "optional": False, "extras": [], **fields}


@pytest.mark.parametrize("kind", ["typed_dict", "model"])
@pytest.mark.parametrize(
    "wrong",
    [
        key(type={"form": "name", "of": CODE}),
        key(type={"form": "generic", "of": CODE, "args": [{"form": "Any"}]}),
        key(type={"form": "Union", "args": [{"form": "name", "of": CODE}, {"form": "None"}]}),
        key(type={"form": "Annotated", "of": {"form": "name", "of": CODE}, "extras": []}),
        key(type={"form": "schema", "of": {"kind": "name", "name": CODE}}),
        key(name="__base__"),
        key(name="__validators__"),
        key(name=7),
        key(type=CODE),
        {"name": "n"},
    ],
)
def test_text_in_place_of_a_type_is_never_evaluated(kind: str, wrong: dict[str, Any]) -> None:
    data = saved()
    data["state_schema"] = {"kind": kind, "name": "State", "keys": [wrong]}
    refused(data)


def test_a_default_factory_must_be_a_function() -> None:
    data = saved()
    data["state_schema"] = {"kind": "model", "name": "State", "keys": [key(factory=CODE)]}
    assert "as a default factory" in refused(data)


@pytest.mark.parametrize("schema", [{"kind": "name", "name": CODE}, [1], None, "text", {"kind": "model", "name": "S"}])
def test_a_schema_of_another_shape_is_refused(schema: Any) -> None:
    refused({**saved(), "state_schema": schema})


@pytest.mark.parametrize(
    "names",
    [
        ("os", "system"),
        ("posix", "system"),
        ("subprocess", "Popen"),
        ("builtins", "eval"),
        ("builtins", "__import__"),
        ("sys", "modules"),
        (__name__, "pytest.exit"),
        (__name__, "json.dumps"),
        (__name__, "node.__globals__"),
        (__name__, "State.__init_subclass__"),
        ("evonb.graph.trust", "signed"),
        ("evonb.graph.source", "function_from"),
        ("evonb._optional", "require"),
    ],
)
def test_unsigned_names_beyond_the_users_own_functions_are_refused(names: tuple[str, str]) -> None:
    data = saved()
    data["nodes"]["a"]["node"]["function"] = {"$": "name", "module": names[0], "name": names[1]}
    assert "node 'a'" in refused(data)


UNPICKLES = {
    "$": "partial",
    "function": {
        "$": "method",
        "of": {
            "$": "object",
            "class": {"$": "name", "module": "evonb.typing.messages", "name": "UserMessage"},
            "fields": {"content": "x"},
        },
        "name": "parse_raw",
    },
    "args": [{"$": "bytes", "text": base64.b64encode(pickle.dumps(Harmful())).decode()}],
    "kwargs": {"proto": "pickle", "allow_pickle": True},
}


def test_unsigned_methods_and_partials_of_other_peoples_code_are_refused() -> None:
    data = saved()
    data["state_schema"] = {"kind": "model", "name": "State", "keys": [key(factory=UNPICKLES)]}
    assert "parse_raw" in refused(data)
    for function in (UNPICKLES["function"], {"$": "name", "module": "builtins", "name": "dict"}):
        data = saved()
        data["nodes"]["a"]["node"]["function"] = {"$": "partial", "function": function, "args": [], "kwargs": {}}
        assert "node 'a'" in refused(data)


def test_signed_pieces_cannot_be_put_together_anew() -> None:
    builder = GraphBuilder(State)
    builder.add_node("a", functools.partial(node_with, plus=1))
    builder.set_entry_point("a")
    data = json.loads(json.dumps(builder.dumps()))
    assert GraphBuilder.loads(data).build().run_sync({"n": 1})["n"] == 2
    data["nodes"]["a"]["node"]["function"]["function"] = signed({"$": "name", "module": "os", "name": "system"})
    assert "node 'a'" in refused(data)


@pytest.mark.parametrize(
    "names",
    [
        ("evonb.llm.recording", "RecordingModel"),
        ("evonb.tools.mcp_manager", "McpToolManager"),
        ("evonb.agents.agent", "AgentNode"),
        ("evonb.graph.nodes", "FunctionSyncNode"),
        ("evonb.persistence.sqlite", "SqliteStore"),
    ],
)
def test_unsigned_data_name_no_class_of_ours_that_acts(names: tuple[str, str]) -> None:
    importlib.import_module(names[0])
    data = saved()
    piece = {"$": "name", "module": names[0], "name": names[1]}
    data["nodes"]["a"]["node"] = {"instance": {"$": "object", "class": piece, "fields": {}}}
    assert "node 'a'" in refused(data)


class Plain:
    pass


class Other:
    pass


@dataclass
class Record:
    shown: str = ""


@pytest.mark.parametrize("kind", [Plain, Record])
def test_attributes_of_a_saved_object_do_not_make_another_one_of_it(kind: type) -> None:
    piece = {"$": "name", "module": __name__, "name": kind.__name__}
    other = {**piece, "name": "Other"}
    made = Loader(trust=False).load({"$": "object", "class": piece, "fields": {"shown": "x", "__class__": other}})
    assert type(made) is kind
    assert made.shown == "x"


def test_a_signature_covers_every_part_of_its_piece() -> None:
    builder = GraphBuilder(State)
    builder.add_node("a", lambda state: {"n": 7})
    builder.set_entry_point("a")
    data = json.loads(json.dumps(builder.dumps()))
    piece = data["nodes"]["a"]["node"]["function"]
    assert GraphBuilder.loads(data).build().run_sync({"n": 1})["n"] == 7
    for part in sorted(set(piece) - {"$"}):
        changed = copy.deepcopy(data)
        changed["nodes"]["a"]["node"]["function"][part] = "é" if isinstance(piece[part], str) else ["other"]
        refused(changed)


@pytest.mark.parametrize("place", ["state_schema", "nodes", "edges", "node"])
def test_data_nested_without_end_are_refused(place: str) -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    data = saved()
    if place == "node":
        data["nodes"]["a"]["node"] = {"function": deep}
    else:
        data[place] = {"kind": "name", "name": deep} if place == "state_schema" else {"a": deep}
    with pytest.raises(EvonbError):
        GraphBuilder.loads(data)


@pytest.mark.parametrize("text", ["[" * 200_000, '{"nodes": ', "\x00"])
def test_a_file_of_another_shape_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_text(text)
    with pytest.raises(GraphError, match=r"graph\.json isn't a saved graph"):
        GraphBuilder.load(str(path))


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(GraphError, match=r"graph\.json isn't a saved graph"):
        GraphBuilder.load(str(path))


def test_large_data_load_in_a_moment() -> None:
    builder = GraphBuilder(State)
    names = [f"n{at}" for at in range(2000)]
    for name in names:
        builder.add_node(name, node)
    for before, after in itertools.pairwise(names):
        builder.add_edge(before, after)
    builder.set_entry_point(names[0])
    loaded = GraphBuilder.loads(json.loads(json.dumps(builder.dumps())))
    assert loaded.build().run_sync({"n": 0})["n"] == 2000
