"""A reply that arrives in pieces: the best value after each."""

from __future__ import annotations

import re
import time

from evonb.parsing.failure import Unreadable
from evonb.parsing.interpret import Understood, Wanted, plain_reply, read_reply, settle
from evonb.parsing.json_stream import JsonStream, NotStreamable
from evonb.parsing.reading import Reading
from evonb.parsing.schema import OutputFormat, ParseResult, ParseTrace, Span

_JSON_START = re.compile(
    r"(?:\A|</think(?:ing)?>)\s*(?:```(?:json\w{0,5})?[ \t]*\n\s*)?(?=[{\[])|\n```json\w{0,5}[ \t]*\n\s*(?=[{\[])"
)
_FENCE_CHARS = 200
"""An opening fence and the blanks after it are shorter than this."""

_REPARSED_CHARS = 4_000
"""Up to this length every piece reads the reply anew; longer ones wait until a fiftieth was added."""


class ReplyStream:
    """Collects the pieces of one reply.

    JSON is built as it arrives, so a piece costs what the piece is long; other formats are read anew.
    """

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._pieces: list[str] = []
        self._length = 0
        self._json: JsonStream | None = None
        self._json_start = 0
        self._may_be_json = wanted.kind in (None, OutputFormat.JSON)
        self._read_at = 0
        self._last: Understood | str = "nothing arrived yet"

    @property
    def text(self) -> str:
        """Everything that arrived."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def feed(self, chunk: str) -> ParseResult:
        """Take a piece and give the best value so far; its trace says what was noticed, and `success` stays False."""
        started = time.perf_counter()
        self._pieces.append(chunk)
        self._length += len(chunk)
        if not self._feed_json(chunk):
            self._read_anew()
        return self._result(started)

    def _feed_json(self, chunk: str) -> bool:
        """Whether the value is being built as it arrives."""
        if not self._may_be_json:
            return False
        try:
            if self._json is None:
                start = _JSON_START.search(self.text, max(0, self._length - len(chunk) - _FENCE_CHARS))
                if start is None:
                    return False
                self._json, self._json_start = JsonStream(), start.end()
                self._json.feed(self.text[start.end() :])
            else:
                self._json.feed(chunk)
        except NotStreamable:
            self._may_be_json = False
            return False
        if self._json.done:
            self._may_be_json = False  # what follows may change what is meant
            return False
        reading = Reading(OutputFormat.JSON, self._json.value, self._json_start, self._length, cut=True)
        self._last = Understood(reading.value, OutputFormat.JSON, reading)
        return True

    def _read_anew(self) -> None:
        grown = self._length - self._read_at
        if self._read_at and self._length > _REPARSED_CHARS and grown * 50 < self._length:
            if isinstance(self._last, Understood) and self._last.format is OutputFormat.PLAIN_TEXT:
                self._last = plain_reply(self.text, self._wanted)
            return
        self._read_at = self._length
        try:
            self._last = read_reply(self.text, self._wanted)
        except Unreadable as error:
            self._last = str(error)

    def _result(self, started: float) -> ParseResult:
        trace = ParseTrace(raw_input=self.text, detected_format=self._wanted.kind or OutputFormat.UNKNOWN)
        data = None
        if isinstance(self._last, Understood):
            trace.detected_format = self._last.format
            data, trace.validations = settle(self._last.value, self._wanted)
            trace.repairs = [*self._last.reading.repairs, *self._last.reading.guesses]
        else:
            trace.add_error(self._last)
        trace.spans = [Span(0, self._length, "data" if data is not None else "prose")]
        trace.duration_ms = (time.perf_counter() - started) * 1000
        return ParseResult(data, self._wanted.schema, trace, self.text)
