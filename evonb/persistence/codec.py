"""Values to text and back, typed, without pickle: what a run store writes.

    encoded = encode_mapping({"order": Order(...)})
    decode(encoded.text, encoded.blobs.__getitem__)

JSON types, tuples, sets, bytes, enums, moments, Decimal, UUID, paths, pydantic models, dataclasses, named tuples,
subclasses of builtins, `MISSING`, numpy and pandas come back as they were. Large bodies leave the text and go
into `blobs` under a digest of their content, so that what repeats in a run is stored once. Reading runs no code but
that of enums and defaults, imports no module of a user, and never fails for a class that is gone: a `StandIn` takes
its place.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evonb.errors import StateError
from evonb.persistence import arrays, classes, containers, scalars  # noqa: F401 - they fill the tables
from evonb.persistence.errors import StoreError
from evonb.persistence.forms import DECODE, DUMP, ENCODE, LEARN, TAG, Unstorable, tagged
from evonb.persistence.names import TypeMissing, name_of
from evonb.persistence.standin import StandIn

__all__ = ["Encoded", "LateMapping", "Problems", "decode", "decode_late", "decode_mapping", "encode", "encode_mapping"]

_WORTH_SHARING = 4096
"""Values of a mapping with a text as long as this go into a blob: one that a later step repeats costs nothing."""

_PLAIN = json.JSONDecoder()
_ASCII = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode


Problems = Sequence[tuple[str, StateError]]


@dataclass(frozen=True, slots=True)
class Encoded:
    """What is to be written.

    Attributes:
        text: JSON.
        blobs: Large bodies by digest; `text` and other blobs refer to them.
        problems: What a lenient encoding replaced by stand-ins, as (top-level key, error) pairs.
    """

    text: str
    blobs: Mapping[str, bytes]
    problems: Problems = ()

    @property
    def size_bytes(self) -> int:
        """Size of the text; blobs are counted where they are stored."""
        return len(self.text)


def encode(value: Any, name: str = "value") -> Encoded:
    """Encode one value.

    Args:
        value: Anything of the documented types; it isn't changed.
        name: How the value is called in an error's path.

    Raises:
        StateError: Something in it can't be stored. The text has the path to it, "value[1].b", and its type.
    """
    writer = _Writer()
    return Encoded(_valid(_text(writer, value, name)), writer.blobs)


def encode_mapping(values: Mapping[str, Any], *, lenient: bool = False) -> Encoded:
    """Encode values by name, so that each one that is large is shared with other encodings of the same value.

    Args:
        values: The values; `MISSING` is one.
        lenient: Put a stand-in where a value can't be stored, and tell it in `problems`, instead of raising.

    Raises:
        StateError: Something can't be stored, and `lenient` is off. The path begins with the name.
    """
    writer = _Writer(lenient=lenient)
    parts: list[str] = []
    problems: list[tuple[str, StateError]] = []
    for name, value in values.items():
        writer.lost = 0
        try:
            text = _text(writer, value, str(name))
            if writer.lost:
                problems.append((str(name), _problem(value, str(name))))
        except StateError as error:
            if not lenient:
                raise
            problems.append((str(name), error))
            text = DUMP(_lost(value))
        if len(text) >= _WORTH_SHARING:
            text = DUMP(tagged("value", writer.blob(text.encode("utf-8", "surrogatepass"))))
        # A key that looks like a tag gets one more sign; the reader takes it off again.
        parts.append(f"{DUMP(TAG + name if name.startswith(TAG) else name)}:{text}")
    return Encoded(_valid("{" + ",".join(parts) + "}"), writer.blobs, tuple(problems))


def decode_mapping(text: str, fetch: Callable[[str], bytes]) -> dict[str, Any]:
    """What `encode_mapping` encoded.

    Raises:
        StoreError: As for `decode`.
    """
    values = decode(text, fetch)
    if not isinstance(values, dict):
        raise StoreError("A stored mapping isn't one", fix="the file may be damaged")
    return {key[1:] if key.startswith(TAG) else key: value for key, value in values.items()}


def decode_late(text: str, read: Callable[[str], Any]) -> LateMapping:
    """What `encode_mapping` encoded, each value decoded when somebody asks for it.

    Args:
        text: The text of an `Encoded`.
        read: Decodes one value's text.

    Raises:
        StoreError: The text isn't one that `encode_mapping` made.
    """
    try:
        return LateMapping(_members(text), read)
    except (ValueError, IndexError) as error:
        raise StoreError(f"A stored mapping isn't readable: {error}", fix="the file may be damaged") from error


def _members(text: str) -> dict[str, str]:
    """The members of a compact JSON object, each value as text."""
    members: dict[str, str] = {}
    if text[0] != "{":
        raise ValueError("it isn't an object")
    at = 1
    while text[at] != "}":
        key, colon = _PLAIN.raw_decode(text, at + (text[at] == ","))
        _, at = _PLAIN.raw_decode(text, colon + 1)
        members[key[1:] if key.startswith(TAG) else key] = text[colon + 1 : at]
    return members


def decode(text: str, fetch: Callable[[str], bytes]) -> Any:
    """What was encoded.

    Args:
        text: The text of an `Encoded`.
        fetch: Gives the blob with a digest.

    Raises:
        StoreError: The text isn't one that `encode` made.
    """
    try:
        return _Reader(fetch).text(text)
    except (ValueError, RecursionError) as error:
        raise StoreError(f"A stored value isn't readable: {error}", fix="the file may be damaged") from error


def _valid(text: str) -> str:
    # Text with half a surrogate pair has no UTF-8 form; escaped it is plain ASCII.
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return _ASCII(json.loads(text))
    return text


def _text(writer: _Writer, value: Any, name: str) -> str:
    try:
        return DUMP(writer.value(value))
    except Unstorable as error:
        raise _state_error(error, name) from None
    except RecursionError:
        raise StateError(
            f"{name} holds itself, or is nested too deeply to be stored", fix="keep data without cycles in the state"
        ) from None
    except Exception as error:
        # Reading a value may run the user's code: a property, an iterator.
        raise StateError(f"{name} can't be stored: {type(error).__name__}: {error}", fix=_FIX) from error


_FIX = "keep it outside of the state, or make it plain data, a dataclass or a pydantic model"


def _state_error(error: Unstorable, name: str) -> StateError:
    why = f": {error.why}" if error.why else ""
    return StateError(f"{error.path(name)} is a {error.kind}, which can't be stored{why}", fix=_FIX)


def _problem(value: Any, name: str) -> StateError:
    try:
        _text(_Writer(), value, name)
    except StateError as error:
        return error
    return StateError(f"{name} changed while it was being stored", fix=_FIX)


def _lost(value: Any) -> dict[str, Any]:
    # Its `repr` isn't kept: it may hold a key or a password.
    return tagged("lost", None, t=name_of(type(value)))


class _Writer:
    __slots__ = ("blobs", "lenient", "lost")

    def __init__(self, *, lenient: bool = False) -> None:
        self.blobs: dict[str, bytes] = {}
        self.lenient = lenient
        self.lost = 0

    def value(self, value: Any) -> Any:
        kind = value.__class__
        handler = ENCODE.get(kind) or _learn(kind)
        if not self.lenient:
            return handler(self, value)
        try:
            return handler(self, value)
        except Unstorable:
            self.lost += 1
            return _lost(value)

    def part(self, piece: str, value: Any) -> Any:
        try:
            return self.value(value)
        except Unstorable as error:
            error.pieces.append(piece)
            raise

    def fields(self, values: Mapping[str, Any]) -> Any:
        return containers.mapping(self, dict(values))

    def blob(self, body: bytes) -> str:
        digest = base64.urlsafe_b64encode(hashlib.blake2b(body, digest_size=15).digest()).decode("ascii")
        self.blobs[digest] = body
        return digest


def _learn(kind: type) -> Callable[[Any, Any], Any]:
    handler = next((found for learn in LEARN if (found := learn(kind)) is not None), _refuse)
    ENCODE[kind] = handler
    return handler


def _refuse(_: Any, value: Any) -> Any:
    raise Unstorable(value)


class _Reader:
    __slots__ = ("_decoder", "blob")

    def __init__(self, fetch: Callable[[str], bytes]) -> None:
        self.blob = fetch
        self._decoder = json.JSONDecoder(object_hook=self._form)

    def text(self, text: str) -> Any:
        return self._decoder.decode(text)

    def _form(self, form: dict[str, Any]) -> Any:
        tag = form.get(TAG)
        if tag is None:
            return form
        if tag == "value":
            return self.text(self.blob(form["v"]).decode("utf-8", "surrogatepass"))
        if tag == "lost":
            return StandIn(form["t"], "it couldn't be stored", None, form)
        try:
            return DECODE[tag](self, form)
        except StoreError:
            raise
        except Exception as error:
            # The class is gone or has changed, or a package isn't there: the rest of the run stays readable.
            return StandIn(_shown(form.get("t", tag)), _reason(error), form["v"], form)


class LateMapping(Mapping[str, Any]):
    """What `decode_late` gives: read-only; each value is decoded once."""

    __slots__ = ("_decoded", "_read", "_texts")

    def __init__(self, texts: Mapping[str, str], read: Callable[[str], Any]) -> None:
        self._texts = texts
        self._read = read
        self._decoded: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        if key not in self._decoded:
            self._decoded[key] = self._read(self._texts[key])
        return self._decoded[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __contains__(self, key: object) -> bool:
        return key in self._texts

    def __repr__(self) -> str:
        return repr(dict(self))


def _shown(ref: Any) -> str:
    return ref if isinstance(ref, str) else f"{_shown(ref[0])}[{', '.join(map(_shown, ref[1]))}]"


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, TypeMissing) else f"{type(error).__name__}: {error}"
