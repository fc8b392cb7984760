"""Forms of scalars: text, bytes, numbers, moments, and what has an exact text of its own."""

from __future__ import annotations

import base64
import datetime as dt
import ipaddress
import pathlib
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from evonb.persistence.forms import DECODE, ENCODE, Reader, Unstorable, Writer, tagged
from evonb.typing import MISSING
from evonb.typing.constants import MissingType

_LONG_TEXT = 1024
_LONG_BYTES = 512
_SAFE_INT = 10**1000
"""Python refuses to read decimal numbers of more than 4,300 digits."""


def _int(_: Writer, value: int) -> Any:
    return value if -_SAFE_INT < value < _SAFE_INT else tagged("int", hex(value))


def _str(writer: Writer, value: str) -> Any:
    return value if len(value) < _LONG_TEXT else tagged("text", writer.blob(value.encode("utf-8", "surrogatepass")))


def _bytes(writer: Writer, value: bytes) -> Any:
    if len(value) < _LONG_BYTES:
        return tagged("b64", base64.b64encode(value).decode("ascii"))
    return tagged("bytes", writer.blob(value))


ENCODE.update({bool: lambda _, value: value, float: lambda _, value: value, type(None): lambda _, value: value})
ENCODE.update({int: _int, str: _str, bytes: _bytes})
ENCODE[bytearray] = lambda writer, value: tagged("bytearray", _bytes(writer, bytes(value)))
ENCODE[complex] = lambda _, value: tagged("complex", [value.real, value.imag])
ENCODE[type(...)] = lambda _, value: tagged("...", None)
ENCODE[MissingType] = lambda _, value: tagged("missing", None)
DECODE.update(
    {
        "int": lambda _, form: int(form["v"], 16),
        "text": lambda reader, form: reader.blob(form["v"]).decode("utf-8", "surrogatepass"),
        "b64": lambda _, form: base64.b64decode(form["v"]),
        "bytes": lambda reader, form: reader.blob(form["v"]),
        "bytearray": lambda _, form: bytearray(form["v"]),
        "complex": lambda _, form: complex(*form["v"]),
        "...": lambda _, form: ...,
        "missing": lambda _, form: MISSING,
    }
)


# --- moments ---------------------------------------------------------------------------


def _zone(_: Writer, value: dt.tzinfo | None) -> Any:
    if value is None:
        return None
    if isinstance(value, ZoneInfo) and value.key:
        return tagged("zone", value.key)
    if type(value) is dt.timezone:
        offset = value.utcoffset(None)
        named = value != dt.timezone(offset) or str(value) != str(dt.timezone(offset))
        return tagged("offset", _span(offset), name=str(value) if named else None)
    raise Unstorable(value, "its time zone has no name")


def _span(value: dt.timedelta) -> list[int]:
    return [value.days, value.seconds, value.microseconds]


def _moment(writer: Writer, value: dt.datetime | dt.time) -> Any:
    bare = value.replace(tzinfo=None, fold=0).isoformat()
    return tagged(type(value).__name__, bare, tz=_zone(writer, value.tzinfo), fold=value.fold)


def _read_moment(kind: type[dt.datetime] | type[dt.time]) -> Callable[[Reader, dict[str, Any]], Any]:
    return lambda _, form: kind.fromisoformat(form["v"]).replace(tzinfo=form["tz"], fold=form["fold"])


def _read_offset(_: Reader, form: dict[str, Any]) -> dt.timezone:
    offset = dt.timedelta(*form["v"])
    return dt.timezone(offset) if form["name"] is None else dt.timezone(offset, form["name"])


ENCODE.update({dt.datetime: _moment, dt.time: _moment, dt.timezone: _zone, ZoneInfo: _zone})
ENCODE[dt.date] = lambda _, value: tagged("date", value.isoformat())
ENCODE[dt.timedelta] = lambda _, value: tagged("timedelta", _span(value))
DECODE.update({"datetime": _read_moment(dt.datetime), "time": _read_moment(dt.time), "offset": _read_offset})
DECODE["date"] = lambda _, form: dt.date.fromisoformat(form["v"])
DECODE["timedelta"] = lambda _, form: dt.timedelta(*form["v"])
DECODE["zone"] = lambda _, form: ZoneInfo(form["v"])


# --- what has an exact text --------------------------------------------------------------

_TEXTUAL: dict[type, str] = {
    Decimal: "decimal",
    Fraction: "fraction",
    UUID: "uuid",
    pathlib.PurePosixPath: "posixpath",
    pathlib.PureWindowsPath: "windowspath",
    ipaddress.IPv4Address: "ip4",
    ipaddress.IPv6Address: "ip6",
    ipaddress.IPv4Network: "net4",
    ipaddress.IPv6Network: "net6",
    ipaddress.IPv4Interface: "if4",
    ipaddress.IPv6Interface: "if6",
    type(pathlib.Path()): "path",
}


def _textual(kind: type, tag: str) -> None:
    ENCODE[kind] = lambda _, value: tagged(tag, str(value))
    DECODE[tag] = lambda _, form: kind(form["v"])


for _kind, _tag in _TEXTUAL.items():
    _textual(_kind, _tag)
ENCODE[re.Pattern] = lambda writer, value: tagged("re", writer.value(value.pattern), flags=value.flags)
DECODE["re"] = lambda _, form: re.compile(form["v"], form["flags"])
