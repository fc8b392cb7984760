"""Graphs as plain data: what `GraphBuilder.dumps` and `loads` do."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import PydanticUserError, ValidationError

from evonb.errors import EvonbError, GraphError
from evonb.graph.declared import sharing
from evonb.graph.edges import EdgeSpecBase, cast_edge
from evonb.graph.loading import Loader, Untrusted
from evonb.graph.nodes import GraphNodeSpec, NodeBase, callable_to_node
from evonb.graph.plan import START, in_order
from evonb.graph.retry import RetryPolicy
from evonb.graph.saved_schema import load_schema, save_schema
from evonb.graph.saving import Saver

if TYPE_CHECKING:
    from evonb.graph.builder import GraphBuilder
    from evonb.graph.engine import GraphEngine

__all__ = ["dump_builder", "dump_function", "load_builder", "load_function", "read_json", "write_json"]

_B = TypeVar("_B", bound="GraphBuilder")
_NEEDED = ("state_schema", "nodes", "edges")
Faults = list[str]


def dump_function(function: Any, place: str) -> Any:
    """A function as data; see `saving`."""
    return None if function is None else Saver().code(function, place)


def load_function(data: Mapping[str, Any], place: str, *, trust: bool) -> Any:
    """The function of data that `dump_function` made.

    Raises:
        Untrusted: It isn't signed.
    """
    try:
        return Loader(trust=trust).load(data)
    except Untrusted as error:
        raise _refused([f"{place}: {error.what}"]) from error


# --- saving ------------------------------------------------------------------------------------


def dump_builder(builder: GraphBuilder, graph_name: str, version: str) -> dict[str, Any]:
    """The data of a builder; every fault of it is reported at once.

    Raises:
        GraphError: Something in it can't be saved.
    """
    faults: Faults = []
    with sharing():
        parts = _dump_parts(builder.state_schema, builder._nodes, builder._edges, faults)
    data = {
        "graph_name": graph_name,
        "version": version,
        "name": builder.name,
        "strict": builder.strict,
        **parts,
        "entry_set": bool(builder._edges.get(START)),
    }
    if faults:
        listed = "\n".join(f"  - {fault}" for fault in faults)
        raise GraphError(f"The graph can't be saved:\n{listed}", where=f"graph {builder.name!r}", fix="mend each")
    return data


def _dump_parts(
    schema: Any, nodes: Mapping[str, GraphNodeSpec], edges: Mapping[str, list[EdgeSpecBase]], faults: Faults
) -> dict[str, Any]:
    # In the order in which they are loaded: what is shared is saved where it is met first.
    parts = {
        "state_schema": _tried(lambda: save_schema(schema, Saver()), faults),
        "nodes": {name: _dump_spec(name, spec, faults) for name, spec in nodes.items()},
    }
    saved = {id(edge): {**(_tried(edge.as_data, faults) or {}), "order": at} for at, edge in enumerate(in_order(edges))}
    parts["edges"] = {source: [saved[id(edge)] for edge in of_source] for source, of_source in edges.items()}
    return parts


def _dump_spec(name: str, spec: GraphNodeSpec, faults: Faults) -> dict[str, Any]:
    saver, place = Saver(), f"node {name!r}"
    strategies = spec.multi_input_merge_strategy
    return {
        "node": _dump_node(spec.node, place, faults),
        "action_mode": spec.action_mode.value,
        "merge": _tried(lambda: saver.save(strategies, f"{place}: a merge strategy"), faults),
        "effect": spec.effect,
        "run_in": spec.run_in,
        "timeout": spec.timeout,
        "retry": _tried(lambda: saver.save(spec.retry, f"{place}: retry"), faults),
    }


def _dump_node(node: NodeBase, place: str, faults: Faults) -> Any:
    inner: GraphEngine | None = getattr(node, "_subgraph", None)
    if inner is not None:
        parts = _dump_parts(inner.state_schema, inner.nodes, inner.edges, faults)
        limits = {"max_turn": inner.max_turn, "timeout": inner.timeout, "name": inner.name, "strict": inner.strict}
        return {"graph": {**parts, **limits}}
    function = getattr(node, "function", None)
    if function is not None:
        return {"function": _tried(lambda: Saver().code(function, place), faults)}
    return {"instance": _tried(lambda: Saver().save(node, place), faults)}


def _tried(save: Callable[[], Any], faults: Faults) -> Any:
    try:
        return save()
    except EvonbError as error:
        faults.append(error.what + (f" ({error.fix})" if error.fix else ""))
        return None


# --- loading -----------------------------------------------------------------------------------


def load_builder(cls: type[_B], data: Mapping[str, Any], *, trust: bool) -> _B:
    """The builder of data that `dump_builder` made; every piece that isn't trusted is named at once.

    Raises:
        Untrusted: A piece isn't signed, and `trust` is off.
        GraphError: The data are incomplete or damaged.
    """
    refused: Faults = []
    try:
        with sharing():
            schema, nodes, edges = _load_parts(data, trust, refused)
    except (AttributeError, KeyError, TypeError, PydanticUserError, RecursionError, ValidationError) as error:
        first = str(error).partition("\n")[0]
        raise GraphError(
            f"The data describe no graph: {type(error).__name__}: {first}", fix="use what dumps() gave"
        ) from error
    if refused:
        raise _refused(refused)
    builder = cls(state_schema=schema, name=data.get("name", "graph"), strict=bool(data.get("strict", False)))
    builder._nodes.update(nodes)
    builder._edges.update(edges)
    return builder


def _check_whole(data: Any) -> None:
    missing = [key for key in _NEEDED if key not in data] if isinstance(data, Mapping) else list(_NEEDED)
    if missing:
        raise GraphError(f"The data describe no graph: {', '.join(missing)} missing", fix="use what dumps() gave")


def _load_parts(data: Mapping[str, Any], trust: bool, refused: Faults) -> tuple[Any, Any, Any]:
    _check_whole(data)
    loader = Loader(trust=trust)
    schema = _admitted(lambda: load_schema(data["state_schema"], loader), "the schema", refused)
    nodes = {}
    for name, spec in data["nodes"].items():
        load_spec = partial(_load_spec, name, spec, trust, refused)
        nodes[name] = _admitted(load_spec, f"node {name!r}", refused)
    every = sorted((edge for of_source in data["edges"].values() for edge in of_source), key=lambda edge: edge["order"])
    edges: dict[str, list[EdgeSpecBase]] = {source: [] for source in data["edges"]}
    for edge in every:
        cast = _admitted(partial(cast_edge, edge, trust=trust), f"edge from {edge.get('source')!r}", refused)
        if cast is not None:
            edges[cast.source].append(cast)
    return schema, nodes, edges


def _load_spec(name: str, data: Mapping[str, Any], trust: bool, refused: Faults) -> GraphNodeSpec | None:
    loader = Loader(trust=trust)
    node = _load_node(data["node"], loader, trust, refused)
    merge, retry = loader.load(data.get("merge")), loader.load(data.get("retry"))
    if node is None:
        return None
    return GraphNodeSpec(
        node=node,
        node_name=name,
        action_mode=data["action_mode"],
        multi_input_merge_strategy=merge,
        effect=bool(data.get("effect")),
        run_in=data.get("run_in"),
        timeout=data.get("timeout"),
        retry=retry if isinstance(retry, RetryPolicy | int) else None,
    )


def _load_node(data: Mapping[str, Any], loader: Loader, trust: bool, refused: Faults) -> NodeBase | None:
    if "graph" in data:
        from evonb.graph.engine import GraphEngine

        inner, before = data["graph"], len(refused)
        schema, nodes, edges = _load_parts(inner, trust, refused)
        if len(refused) > before:
            return None
        limits = {key: inner.get(key) for key in ("max_turn", "timeout")}
        engine = GraphEngine(
            nodes=nodes,
            edges=edges,
            state_schema=schema,
            name=inner.get("name", "graph"),
            strict=bool(inner.get("strict")),
            **limits,
        )
        return engine._as_node()
    return callable_to_node(loader.load(data["function"] if "function" in data else data["instance"]))


def _admitted(load: Callable[[], Any], place: str, refused: Faults) -> Any:
    try:
        return load()
    except Untrusted as error:
        refused.append(f"{place}: {error.what}")
        return None
    except KeyError as error:
        raise GraphError(f"The data of {place} are damaged: {error} is missing") from error


def _refused(places: Faults) -> Untrusted:
    listed = "\n".join(f"  - {place}" for place in places)
    return Untrusted(
        f"The data hold code that wasn't signed by you:\n{listed}",
        fix="import the modules that define it, or load with trust=True if you know where the data come from",
    )


# --- files -----------------------------------------------------------------------------------


def write_json(save_path: str, data: dict[str, Any]) -> None:
    """Write data as JSON; an existing file is replaced whole or not at all."""
    path = Path(save_path)
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(data, file, ensure_ascii=False, indent=1)
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise


def read_json(file_path: str) -> Any:
    """The data in a file.

    Raises:
        GraphError: It isn't JSON.
        FileNotFoundError: There is no such file.
    """
    data = Path(file_path).read_bytes()
    try:
        return json.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise GraphError(f"{file_path} isn't a saved graph: {error}") from error
