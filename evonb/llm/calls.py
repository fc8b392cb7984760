"""Tool calls out of the pieces in which they are streamed. Pure.

Which call a piece belongs to is the hard part, because servers disagree: the index may be missing, start at one,
leave gaps, or be 0 for every call; ids come once, with every piece, changing, or never; names come whole, in pieces
or again and again; arguments are a string, an object, or nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evonb.typing import Function, ToolCall

__all__ = ["CallAssembly", "arguments_text"]


@dataclass(slots=True)
class _Call:
    order: int
    id: str = ""
    name: str = ""
    arguments: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether the arguments so far are a JSON object, so that more text would spoil them."""
        try:
            return isinstance(json.loads(self.arguments), dict)
        except ValueError:
            return False


@dataclass(frozen=True, slots=True)
class _Piece:
    index: int | None
    id: str
    name: str
    arguments: str


class CallAssembly:
    """Collects the pieces of tool calls in the order of arrival."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._last: dict[int, _Call] = {}

    def feed(self, raw: Any) -> None:
        """Take the `tool_calls` of one delta, or of a whole message: a list of pieces, one piece, or nothing."""
        touched: list[_Call] = []
        for item in [raw] if isinstance(raw, Mapping) else raw if isinstance(raw, list | tuple) else ():
            if isinstance(item, Mapping):
                touched.append(self._add(_piece(item), touched))

    def calls(self, new_id: Callable[[], str]) -> list[ToolCall] | None:
        """The calls so far in the model's order, or None; `new_id` makes the ids that the server left out."""
        ordered = sorted(self._calls, key=lambda call: call.order)
        return [
            ToolCall(
                id=call.id or new_id(), function=Function(name=call.name, arguments=arguments_text(call.arguments))
            )
            for call in ordered
            if call.name or call.arguments
        ] or None

    def _add(self, piece: _Piece, touched: list[_Call]) -> _Call:
        call = self._candidate(piece)
        # Two named pieces of one delta are two calls: nobody says a name twice in one breath.
        if call is None or (piece.name and call in touched) or _begins_another(call, piece):
            call = _Call(piece.index if piece.index is not None else self._next_order())
            self._calls.append(call)
        self._last[call.order] = call
        call.id = call.id or piece.id
        call.name = _joined_name(call, piece.name)
        call.arguments = _joined_arguments(call, piece.arguments)
        return call

    def _candidate(self, piece: _Piece) -> _Call | None:
        """The call that this piece seems to go on with, by its id, by its index, or by coming next."""
        for call in reversed(self._calls):
            # A known id with another index and a name is a server that gives one id to all calls.
            if piece.id and call.id == piece.id and (piece.index in (None, call.order) or not piece.name):
                return call
        if piece.index is not None:
            return self._last.get(piece.index)
        return self._calls[-1] if self._calls else None

    def _next_order(self) -> int:
        return max((call.order for call in self._calls), default=-1) + 1


def _begins_another(call: _Call, piece: _Piece) -> bool:
    """Whether a piece that seems to belong to a call is nevertheless the start of the next one."""
    if not piece.name:
        return False  # it goes on with the arguments; an id may drift meanwhile
    same_name = piece.name == call.name
    if piece.id and call.id and piece.id != call.id:
        # Two ids are two calls, unless a server makes up an id for each piece of one.
        return not (same_name and call.arguments and not call.is_whole)
    if call.is_whole:
        return not same_name or (bool(piece.arguments) and piece.arguments != call.arguments)
    if call.arguments:
        return not same_name
    return not same_name and piece.index is None and not (piece.id or call.id)


def _joined_name(call: _Call, name: str) -> str:
    if not name or name == call.name or call.arguments:
        return call.name or name
    return name if name.startswith(call.name) else call.name + name


def _joined_arguments(call: _Call, more: str) -> str:
    if more == call.arguments and call.is_whole:
        return more  # some servers end by saying the whole call once more
    if more and call.arguments.strip() in ("{}", "null"):
        return more  # a placeholder that stands until the first real piece
    return call.arguments + more


def _piece(raw: Mapping[str, Any]) -> _Piece:
    inner = raw.get("function")
    function = inner if isinstance(inner, Mapping) else raw
    index = raw.get("index")
    arguments = function.get("arguments")
    return _Piece(
        index=index if isinstance(index, int) else None,
        id=str(raw.get("id") or ""),
        name=str(function.get("name") or ""),
        arguments=arguments if isinstance(arguments, str) else _dumped(arguments),
    )


def _dumped(arguments: Any) -> str:
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False)


def arguments_text(raw: str) -> str:
    """Arguments as JSON text; a tool without parameters may come with '', blanks or 'null', which all mean '{}'."""
    return "{}" if raw.strip() in ("", "null") else raw
