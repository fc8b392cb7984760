"""Saved graphs: what comes back, what is refused, who may run what."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import pytest
from pydantic import BaseModel

from evonb.errors import EvonbError, GraphError
from evonb.graph import GraphBuilder, RetryPolicy, Send, cast_edge
from evonb.graph.trust import is_signed, signed


class State(TypedDict):
    n: int


def add_one(state: Any) -> dict[str, int]:
    return {"n": state["n"] + 1}


@pytest.fixture(autouse=True)
def own_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    monkeypatch.setenv("EVONB_DATA_DIR", str(folder))
    return folder


def saved(node: Any, schema: Any = State) -> dict[str, Any]:
    builder = GraphBuilder(schema)
    builder.add_node("a", node)
    builder.set_entry_point("a")
    data: dict[str, Any] = json.loads(json.dumps(builder.dumps()))
    return data


def unsigned(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: unsigned(value) for key, value in data.items() if key != "signature"}
    return [unsigned(item) for item in data] if isinstance(data, list) else data


def run(data: dict[str, Any], **options: Any) -> Any:
    return GraphBuilder.loads(data, **options).build().run_sync({"n": 1})


# --- trust --------------------------------------------------------------------------------------


def test_unsigned_source_is_refused_with_the_names_of_the_nodes() -> None:
    data = unsigned(saved(lambda state: {"n": 7}))
    with pytest.raises(GraphError, match="node 'a'"):
        run(data)
    assert run(data, trust=True)["n"] == 7


def test_changed_source_is_refused() -> None:
    data = saved(lambda state: {"n": 7})
    data["nodes"]["a"]["node"]["function"]["text"] = "lambda state: {'n': 8}"
    with pytest.raises(GraphError, match="wasn't signed"):
        run(data)


def test_unsigned_names_reach_the_users_imported_modules_only() -> None:
    assert run(unsigned(saved(add_one)))["n"] == 2
    for module, name in (
        ("os", "system"),
        ("subprocess", "run"),
        ("builtins", "eval"),
        (__name__, "os.system"),
        ("evonb._optional", "require"),
    ):
        data = unsigned(saved(add_one))
        data["nodes"]["a"]["node"]["function"].update(module=module, name=name)
        with pytest.raises(GraphError, match="wasn't signed"):
            GraphBuilder.loads(data)


def test_unsigned_data_import_nothing() -> None:
    data = unsigned(saved(add_one))
    data["nodes"]["a"]["node"]["function"].update(module="this", name="s")
    sys.modules.pop("this", None)
    with pytest.raises(GraphError):
        GraphBuilder.loads(data)
    assert "this" not in sys.modules


def test_another_users_signature_does_not_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    data = saved(lambda state: {"n": 7})
    monkeypatch.setenv("EVONB_DATA_DIR", str(tmp_path / "other"))
    with pytest.raises(GraphError, match="wasn't signed"):
        run(data)


def test_every_refused_piece_is_named_at_once() -> None:
    builder = GraphBuilder(State)
    builder.add_node("a", lambda state: None)
    builder.add_node("b", lambda state: None)
    builder.add_condition_edge("a", lambda state: "b", ["b"])
    builder.set_entry_point("a")
    with pytest.raises(GraphError) as caught:
        GraphBuilder.loads(unsigned(builder.dumps()))
    for place in ("node 'a'", "node 'b'", "edge from 'a'"):
        assert place in str(caught.value)


def test_cast_edge_follows_the_same_rules() -> None:
    edge = {"edge_type": "edge", "source": "a", "target": "b"}
    evil = {"$": "name", "module": "os", "name": "system"}
    with pytest.raises(GraphError):
        cast_edge({**edge, "state_filter": evil})
    assert cast_edge({**edge, "state_filter": None}).get_targets({}) == [("b", None)]


def test_the_secret_is_private_and_stays(own_secret: Path) -> None:
    piece = signed({"a": 1})
    assert is_signed(piece)
    assert not is_signed({**piece, "a": 2})
    key = own_secret / "signing.key"
    assert len(key.read_bytes()) == 32
    if os.name == "posix":
        assert key.stat().st_mode & 0o077 == 0
    assert [each.name for each in own_secret.iterdir()] == ["signing.key"]


def test_where_no_secret_can_be_kept_the_process_trusts_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("EVONB_DATA_DIR", str(blocked / "below"))
    assert run(saved(lambda state: {"n": 3}))["n"] == 3


# --- what can be kept ------------------------------------------------------------------------------


class Settings(BaseModel):
    factor: int


class Router:
    def __init__(self, limit: int) -> None:
        self.limit = limit

    def __call__(self, state: Any) -> str:
        return "a" if state["n"] < self.limit else "end"


def test_closures_defaults_and_nested_functions_come_back() -> None:
    settings, table = Settings(factor=3), {1: {"x", "y"}, "k": (1, 2.5, None, b"b")}

    def helper(value: int) -> int:
        return value * settings.factor

    def body(state: Any, *, plus: int = 4) -> dict[str, int]:
        assert table[1] == {"x", "y"}
        return {"n": helper(state["n"]) + plus}

    data = saved(body)
    assert run(data)["n"] == 7
    again = json.loads(json.dumps(GraphBuilder.loads(data).dumps()))
    assert run(again)["n"] == 7


def test_wrapped_functions_and_defaults_by_name_come_back() -> None:
    step = 2

    def plain(state: Any) -> dict[str, int]: ...

    @functools.wraps(plain)
    def wrapper(state: Any, *, by: int = step) -> dict[str, int]:
        return {"n": state["n"] + by}

    engine = GraphBuilder.loads(saved(wrapper)).build()
    assert engine.run_sync({"n": 1})["n"] == 3
    assert engine.nodes["a"].node.function.__name__ == "plain"
    assert run(saved(lambda state, by=step: {"n": by}))["n"] == 2


def test_one_of_several_lambdas_in_a_line_is_cut_out_exactly() -> None:
    first, second = (lambda state: {"n": 1}), (lambda state: {"n": 2})
    assert (run(saved(first))["n"], run(saved(second))["n"]) == (1, 2)


def test_callable_objects_methods_and_options_come_back() -> None:
    builder = GraphBuilder(State, name="kept", strict=True)
    builder.add_node("a", add_one, timeout=9, effect=True, run_in="thread", retry=RetryPolicy(attempts=2))
    builder.add_condition_edge("a", Router(5), ["a", "end"], labels={"a": "again"}, multiple=False)
    builder.set_entry_point("a")
    loaded = GraphBuilder.loads(json.loads(json.dumps(builder.dumps())))
    engine = loaded.build()
    spec = engine.nodes["a"]
    assert (loaded.name, loaded.strict) == ("kept", True)
    assert (spec.timeout, spec.effect, spec.run_in, spec.retry) == (9, True, "thread", RetryPolicy(attempts=2))
    assert [edge.label for edge in engine.topology().edges if edge.id == "a>a"] == ["again"]
    assert engine.run_sync({"n": 1})["n"] == 5


class Counter:
    def __init__(self) -> None:
        self.calls = 0
        self.me = self

    def __call__(self, state: Any) -> dict[str, int]:
        self.calls += 1
        return {"n": self.calls}


def test_an_object_of_two_nodes_stays_one_even_if_it_holds_itself() -> None:
    counter = Counter()
    builder = GraphBuilder(State)
    builder.add_node("a", counter)
    builder.add_node("b", counter)
    builder.add_edge("a", "b")
    builder.set_entry_point("a")
    assert run(json.loads(json.dumps(builder.dumps())))["n"] == 2
    assert counter.calls == 0


def test_what_cannot_be_kept_is_named_all_at_once() -> None:
    import threading

    lock, file = threading.Lock(), sys.stdout
    builder = GraphBuilder(State)
    builder.add_node("a", lambda state: {"n": 1 if lock else 0})
    builder.add_node("b", lambda state: {"n": 1 if file else 0})
    builder.set_entry_point("a")
    with pytest.raises(GraphError) as caught:
        builder.dumps()
    assert "node 'a': variable 'lock'" in str(caught.value)
    assert "node 'b': variable 'file'" in str(caught.value)


def test_a_send_is_part_of_the_routers_source() -> None:
    builder = GraphBuilder(State)
    builder.add_node("a", lambda state: None)
    builder.add_node("b", add_one)
    builder.add_condition_edge("a", lambda state: Send("b", n=10), ["b"])
    builder.set_entry_point("a")
    assert run(json.loads(json.dumps(builder.dumps())))["n"] == 11


def test_schemas_without_an_import_name_come_back_key_by_key() -> None:
    class Inner(TypedDict):
        hits: Annotated[int, "add"]

    class Local(TypedDict):
        n: Annotated[int, "add"]
        mode: Literal["x", "y"] | None
        rows: list[dict[str, int]]
        inner: Inner

    loaded = GraphBuilder.loads(saved(lambda state: {"n": 2, "inner": {"hits": 1}}, Local))
    assert loaded.build().run_sync({"n": 1, "mode": "x", "inner": {"hits": 1}}) == {
        "n": 3, "mode": "x", "rows": [], "inner": {"hits": 2},
    }  # fmt: skip


def test_a_graph_saved_in_one_process_runs_in_another(tmp_path: Path, own_secret: Path) -> None:
    path = tmp_path / "graph.json"
    make = (
        "from typing import TypedDict\nfrom evonb.graph import GraphBuilder\n"
        "class State(TypedDict):\n    n: int\n"
        "FACTOR = 5\n"
        "def times(state: State, *, plus: 'int' = 0) -> dict[str, int]:\n    return {'n': state['n'] * FACTOR}\n"
        "b = GraphBuilder(State); b.add_node('a', times); b.set_entry_point('a')\n"
        f"b.dump({str(path)!r})\n"
    )
    use = f"from evonb.graph import GraphBuilder\nprint(GraphBuilder.load({str(path)!r}).build().run_sync({{'n': 3}}))"
    script = tmp_path / "make.py"
    script.write_text(make)
    env = {**os.environ, "EVONB_DATA_DIR": str(own_secret), "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, str(script)], check=True, env=env)
    done = subprocess.run([sys.executable, "-c", use], check=True, env=env, capture_output=True, text=True)
    assert done.stdout.strip() == "{'n': 15}"


@pytest.mark.parametrize(
    "bad", [[], "text", {"nodes": {}}, {"state_schema": {"kind": "odd"}, "nodes": {}, "edges": {}}]
)
def test_damaged_data_are_refused(bad: Any) -> None:
    with pytest.raises(EvonbError):
        GraphBuilder.loads(bad)


def test_a_file_that_is_no_json_is_named(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_text("{")
    with pytest.raises(GraphError, match=r"graph\.json"):
        GraphBuilder.load(str(path))


def test_a_failed_dump_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_text("old")
    import threading

    lock = threading.Lock()
    builder = GraphBuilder(State)
    builder.add_node("a", lambda state: {"n": 1 if lock else 0})
    with pytest.raises(GraphError):
        builder.dump(str(path))
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["graph.json"]
