"""Forms of containers. A list that grows shares all but its end with what it was; keys keep their types."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable
from typing import Any

from evonb.graph.containers import ReadDict, ReadList, ReadSet
from evonb.persistence.forms import DECODE, DUMP, ENCODE, Reader, Unstorable, Writer, tagged
from evonb.persistence.names import ref_of, resolve
from evonb.persistence.standin import key_piece

__all__ = ["items", "mapping", "pairs_of"]

_CHUNK, _WIDE_CHUNK, _GROUP = 8, 256, 64
_FULL = 512
"""A chunk of fewer characters isn't worth a row of its own."""


def items(writer: Writer, values: Iterable[Any]) -> list[Any]:
    """Encode items in order; an error gets the place of the faulty one."""
    encode = writer.value
    out: list[Any] = []
    try:
        for value in values:
            out.append(encode(value))  # noqa: PERF401 - the length tells where an error was
    except Unstorable as error:
        error.pieces.append(f"[{len(out)}]")
        raise
    return out


def _list(writer: Writer, value: Iterable[Any]) -> Any:
    out = items(writer, value)
    return out if len(out) < 2 * _CHUNK else _chunked(writer, out)


def _chunked(writer: Writer, forms: list[Any]) -> Any:
    """A long list in blobs of a fixed number of items: one that grows shares all but its end with what it was."""
    size = _CHUNK if len(DUMP(forms[:_CHUNK])) >= _FULL else _WIDE_CHUNK
    chunks, end = _split(writer, forms, size)
    if not chunks:
        return forms
    if len(chunks) < 2 * _GROUP:
        return tagged("list", chunks, end=end)
    groups, rest = _split(writer, chunks, _GROUP)
    return tagged("list", groups, rest=rest, end=end)


def _split(writer: Writer, forms: list[Any], size: int) -> tuple[list[str], list[Any]]:
    whole = len(forms) // size * size
    texts = [DUMP(forms[start : start + size]) for start in range(0, whole, size)]
    return [writer.blob(text.encode("utf-8", "surrogatepass")) for text in texts], forms[whole:]


def _unchunked(reader: Reader, form: dict[str, Any]) -> list[Any]:
    chunks = [*_joined(reader, form["v"]), *form["rest"]] if "rest" in form else form["v"]
    return [*_joined(reader, chunks), *form["end"]]


def _joined(reader: Reader, digests: list[str]) -> list[Any]:
    texts = (reader.blob(digest).decode("utf-8", "surrogatepass") for digest in digests)
    return [item for text in texts for item in reader.text(text)]


def mapping(writer: Writer, value: dict[Any, Any]) -> Any:
    """A dict as an object if its keys allow it, else as pairs."""
    if "$" in value or not all(key.__class__ is str for key in dict.keys(value)):
        return tagged("dict", [[writer.value(key), writer.part(key_piece(key), item)] for key, item in pairs_of(value)])
    encode = writer.value
    out: dict[str, Any] = {}
    key = ""
    try:
        for key, item in pairs_of(value):
            out[key] = encode(item)
    except Unstorable as error:
        error.pieces.append(key_piece(key))
        raise
    return out


def pairs_of(value: dict[Any, Any]) -> Iterable[tuple[Any, Any]]:
    # Of a copy-on-read dict the plain storage is read: asking it the usual way would copy every value.
    return dict.items(value)


def _set(writer: Writer, values: Iterable[Any]) -> list[Any]:
    # In one order where there is one, so that equal sets have equal forms and large ones are stored once.
    try:
        return items(writer, sorted(values))
    except TypeError:
        return items(writer, values)


def _default_dict(writer: Writer, value: defaultdict[Any, Any]) -> Any:
    factory = value.default_factory
    if factory is not None and not isinstance(factory, type):
        raise Unstorable(value, "its default factory isn't a class")
    pairs = [[writer.value(key), writer.part(key_piece(key), item)] for key, item in value.items()]
    return tagged("defaultdict", pairs, t=None if factory is None else ref_of(factory))


def _read_default_dict(_: Reader, form: dict[str, Any]) -> Any:
    return defaultdict(None if form["t"] is None else resolve(form["t"]), form["v"])


ENCODE.update({list: _list, dict: mapping})
ENCODE[tuple] = lambda writer, value: tagged("tuple", items(writer, value))
ENCODE[set] = lambda writer, value: tagged("set", _set(writer, value))
ENCODE[frozenset] = lambda writer, value: tagged("frozenset", _set(writer, value))
ENCODE[ReadList] = lambda writer, value: _list(writer, list.__iter__(value))
ENCODE[ReadDict] = mapping
ENCODE[ReadSet] = lambda writer, value: tagged("set", _set(writer, set.__iter__(value)))
ENCODE[deque] = lambda writer, value: tagged("deque", items(writer, value), max=value.maxlen)
ENCODE[OrderedDict] = lambda writer, value: tagged("ordered", items(writer, [list(each) for each in value.items()]))
ENCODE[Counter] = lambda writer, value: tagged("counter", items(writer, [list(each) for each in value.items()]))
ENCODE[defaultdict] = _default_dict
ENCODE[range] = lambda _, value: tagged("range", [value.start, value.stop, value.step])
ENCODE[slice] = lambda writer, value: tagged("slice", items(writer, [value.start, value.stop, value.step]))
DECODE.update(
    {
        "list": _unchunked,
        "dict": lambda _, form: dict(form["v"]),
        "tuple": lambda _, form: tuple(form["v"]),
        "set": lambda _, form: set(form["v"]),
        "frozenset": lambda _, form: frozenset(form["v"]),
        "deque": lambda _, form: deque(form["v"], form["max"]),
        "ordered": lambda _, form: OrderedDict(form["v"]),
        "counter": lambda _, form: Counter(dict(form["v"])),
        "defaultdict": _read_default_dict,
        "range": lambda _, form: range(*form["v"]),
        "slice": lambda _, form: slice(*form["v"]),
    }
)
