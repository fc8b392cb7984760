"""Steps and headers as rows, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evonb.errors import StateError
from evonb.graph.ports import RunHeader, StoredStep
from evonb.persistence.codec import decode, decode_late, decode_mapping, encode_mapping
from evonb.persistence.errors import StoreError
from evonb.persistence.schema import INNER

__all__ = ["COLUMNS", "Row", "document_text", "from_row", "header_values", "key_of", "plain", "to_row"]

Fetch = Callable[[str], bytes]
Values = tuple[Any, ...]

COLUMNS = "branch, node, visit, parents, status, at_s, duration_s, size_bytes, delta, cut, snapshot, notes"


@dataclass(frozen=True, slots=True)
class Row:
    """A step as it is written.

    Attributes:
        number: The step's key.
        values: In the order of `COLUMNS`.
        size_bytes: Of it without the blobs that it refers to.
    """

    number: int
    values: Values
    size_bytes: int


def key_of(step: StoredStep) -> int:
    """The key of a step in its run: its number, in the upper half for one inside of a sub-graph."""
    return step.number + INNER if step.inner else step.number


def to_row(step: StoredStep) -> tuple[Row, dict[str, bytes], list[tuple[str, StateError]]]:
    """A step as a row, its blobs, and what of it had to be replaced by stand-ins.

    Raises:
        StoreError: Its number can't be one.
    """
    if not 0 <= step.number < INNER:
        raise StoreError(f"A step can't have the number {step.number}", fix="count from 0 on")
    texts: list[str | None] = []
    blobs: dict[str, bytes] = {}
    problems: list[tuple[str, StateError]] = []
    for values in (step.delta, step.cut, step.snapshot, step.notes):
        if values is None:
            texts.append(None)
            continue
        encoded = encode_mapping(values, lenient=True)
        texts.append(encoded.text)
        blobs.update(encoded.blobs)
        problems.extend(encoded.problems)
    size = sum(len(text) for text in texts if text)
    parents = json.dumps(step.parents)
    head = (step.branch, plain(step.node), step.visit, parents, step.status, step.at_s, step.duration_s, size)
    return Row(key_of(step), (*head, *texts), size), blobs, problems


def from_row(key: int, values: Values, fetch: Fetch, where: str) -> StoredStep:
    """The step of a row.

    Raises:
        StoreError: The row isn't readable.
    """
    branch, node, visit, parents, status, at_s, duration_s, _, delta, cut, snapshot, notes = values
    number, inner = key & (INNER - 1), key >= INNER
    try:
        parts = {"delta": delta, "cut": cut, "notes": notes}
        read = {name: text and decode_mapping(text, fetch) for name, text in parts.items()}
        return StoredStep(
            number=number,
            branch=branch,
            node=node,
            visit=visit,
            parents=tuple(json.loads(parents)),
            status=status,
            at_s=at_s,
            duration_s=duration_s,
            inner=inner,
            snapshot=snapshot and _late(snapshot, fetch, number, where),
            **read,
        )
    except (StoreError, ValueError, TypeError) as error:
        raise _unreadable(f"{number}{' inside' if inner else ''}", error, where) from error


def _late(text: str, fetch: Fetch, number: int, where: str) -> Mapping[str, Any]:
    """Whole states are large, and those who read one seldom want all of it."""

    def read(value: str) -> Any:
        try:
            return decode(value, fetch)
        except StoreError as error:
            raise _unreadable(str(number), error, where) from error

    return decode_late(text, read)


def _unreadable(step: str, error: Exception, where: str) -> StoreError:
    reason = error.what if isinstance(error, StoreError) else str(error)
    fix = "the file may be damaged; the other steps can be read"
    return StoreError(f"Step {step} can't be read: {reason}", where=where, fix=fix)


def header_values(header: RunHeader) -> tuple[Values, Mapping[str, bytes], list[tuple[str, StateError]]]:
    """A header's values in the order of the table, its blobs, and what had to be replaced."""
    encoded = encode_mapping(header.inputs, lenient=True)
    names = (plain(header.run_id), plain(header.graph_name), plain(header.name))
    values = (*names, header.started_at, encoded.text, header.shape)
    return values, encoded.blobs, list(encoded.problems)


def document_text(name: str, body: Any) -> str | None:
    """A document as text; None deletes it.

    Raises:
        StateError: It isn't plain JSON.
    """
    if body is None:
        return None
    try:
        return json.dumps(body, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise StateError(f"Document {name!r} isn't plain JSON: {error}", fix="give JSON values only") from error


def plain(text: str) -> str:
    """Text that SQLite takes: half a surrogate pair has no UTF-8 form."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")
