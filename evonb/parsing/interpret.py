"""One reply, read and brought to fields and schema: pure, with no model, cache or clock.

`read_reply` may fail; `settle` never does: what is wrong with a value that was read becomes a failed check.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evonb.parsing.casting import cast, required_names, schema_names
from evonb.parsing.clean import Cleaned, clean
from evonb.parsing.failure import Unreadable
from evonb.parsing.fields import Checks, apply_fields, known_keys
from evonb.parsing.key_value import lower_snake
from evonb.parsing.reading import Reading
from evonb.parsing.schema import FieldSchema, OutputFormat, Span
from evonb.parsing.structure import read_any, read_as, read_whole_json


@dataclass(frozen=True)
class Wanted:
    """What the caller wants a reply to be.

    Attributes:
        fields: Declared fields.
        schema: A class to make the value an instance of.
        kind: The format, when it is known.
        strict: Refuse what had to be guessed.
    """

    fields: Sequence[FieldSchema] = ()
    schema: Any = None
    kind: OutputFormat | None = None
    strict: bool = False

    def known(self) -> frozenset[str]:
        """The keys that are looked for, in lower snake case."""
        if self.fields:
            return known_keys(self.fields)
        names = schema_names(self.schema)
        return frozenset(lower_snake(name) for key, others in names.items() for name in (key, *others))


@dataclass(frozen=True)
class Understood:
    """A reply that was read.

    Attributes:
        value: What it says, before fields and schema.
        format: Its format as a whole.
        reading: The block that was chosen.
        spans: The whole raw text, cut into what was used and what wasn't.
        remarks: What was noticed on the way.
    """

    value: Any
    format: OutputFormat
    reading: Reading
    spans: list[Span] = field(default_factory=list)
    remarks: tuple[str, ...] = ()


def read_reply(raw: str, wanted: Wanted) -> Understood:
    """Read a reply.

    Raises:
        Unreadable: It holds nothing that can be meant, or only what STRICT refuses; the message says which.
    """
    whole = read_whole_json(raw) if wanted.kind in (None, OutputFormat.JSON) else None
    remarks: list[str] = []
    if whole is not None:
        reading, kind, cleaned = whole, OutputFormat.JSON, Cleaned(raw)
    else:
        cleaned = clean(raw)
        if not cleaned.text.strip():
            raise Unreadable(
                "the reply ends inside its reasoning" if cleaned.cut_in_reasoning else "the reply holds no text"
            )
        reading, kind, remarks = _read(cleaned.text, wanted)
    if reading.value is None:
        raise Unreadable("the reply is null")
    if wanted.strict:
        _refuse_guesses(cleaned.text, reading)
    value = _fill_plain(reading, wanted)
    return Understood(value, kind, reading, account(raw, cleaned, reading), (*reading.warnings, *remarks))


def plain_reply(raw: str, wanted: Wanted) -> Understood:
    """A reply that is known to be plain text. Raises as `read_reply`."""
    reading = Reading(OutputFormat.PLAIN_TEXT, {"answer": raw.strip()}, 0, len(raw))
    return Understood(_fill_plain(reading, wanted), OutputFormat.PLAIN_TEXT, reading)


def _read(text: str, wanted: Wanted) -> tuple[Reading, OutputFormat, list[str]]:
    whole = read_whole_json(text) if wanted.kind in (None, OutputFormat.JSON) else None
    if whole is not None:
        return whole, OutputFormat.JSON, []
    if wanted.kind is None:
        return read_any(text, wanted.known())
    return read_as(text, wanted.kind, wanted.known())


def _refuse_guesses(text: str, reading: Reading) -> None:
    if not reading.lossless:
        raise Unreadable(
            "it can't be read without guessing: " + "; ".join(reading.guesses or ("its end is missing",)),
            format=reading.format,
        )
    head = text.lstrip()
    if reading.format is OutputFormat.PLAIN_TEXT and (head[:1] in ("{", "[", "<") or head.startswith("```")):
        raise Unreadable("it begins like structured data and can't be read as such")


def _fill_plain(reading: Reading, wanted: Wanted) -> Any:
    """Plain text fills the one text field that is open for it; where several are open it says nothing."""
    if reading.format is not OutputFormat.PLAIN_TEXT:
        return reading.value
    text = reading.value["answer"]
    if wanted.fields:
        required = [item for item in wanted.fields if item.required]
        if len(required) != 1 or required[0].dtype != "str":
            listed = ", ".join(repr(item.name) for item in required) or "the fields"
            raise Unreadable(f"plain text, which can't fill {listed}", format=reading.format)
        return {required[0].name: text}
    names = required_names(wanted.schema)
    if not schema_names(wanted.schema) or names == ["answer"]:
        return reading.value
    if len(names) != 1:
        listed = ", ".join(map(repr, names)) or "the schema"
        raise Unreadable(f"plain text, which can't fill {listed}", format=reading.format)
    return {names[0]: text}


def settle(value: Any, wanted: Wanted) -> tuple[Any, Checks]:
    """The value with fields and schema applied, and every check that this took."""
    checks: Checks = []
    if wanted.fields:
        value, checks = apply_fields(value, wanted.fields)
    if wanted.schema is not None and value is not None:
        value, found = cast(value, wanted.schema)
        checks = checks + found
    return value, checks


def account(raw: str, cleaned: Cleaned, reading: Reading) -> list[Span]:
    """Every character of the raw text in exactly one span: data, what was taken away, and the prose between."""
    spans = list(cleaned.removed)
    data = _data_spans(cleaned, reading)
    spans = sorted([*spans, *data], key=lambda span: span.start)
    whole: list[Span] = []
    at = 0
    for span in spans:
        start = max(span.start, at)
        if start > at:
            whole.append(Span(at, start, "prose" if raw[at:start].strip() else "blank"))
        if span.end > start:
            whole.append(replace(span, start=start))
            at = span.end
    if at < len(raw):
        whole.append(Span(at, len(raw), "prose" if raw[at:].strip() else "blank"))
    return whole


def _data_spans(cleaned: Cleaned, reading: Reading) -> list[Span]:
    """The chosen block in the raw text, without what was taken away inside it."""
    if reading.end <= reading.start:
        return []
    start, end = cleaned.raw(reading.start), cleaned.raw(reading.end - 1) + 1
    spans, at = [], start
    for gone in cleaned.removed:
        if gone.start >= end or gone.end <= start:
            continue
        if gone.start > at:
            spans.append(Span(at, gone.start, "data", reading.format.value))
        at = max(at, gone.end)
    if at < end:
        spans.append(Span(at, end, "data", reading.format.value))
    return spans
