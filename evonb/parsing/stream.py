"""A reply that arrives in pieces: the best value after each."""

from __future__ import annotations

from evonb.parsing.failure import Unreadable
from evonb.parsing.interpret import Wanted, read_reply, settle
from evonb.parsing.schema import ParseResult, ParseTrace


class ReplyStream:
    """Collects the pieces of one reply."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self.text = ""

    def feed(self, chunk: str) -> ParseResult:
        self.text += chunk
        trace = ParseTrace(raw_input=self.text)
        try:
            understood = read_reply(self.text, self._wanted)
        except Unreadable as error:
            trace.add_error(str(error))
            return ParseResult(None, self._wanted.schema, trace, self.text)
        data, trace.validations = settle(understood.value, self._wanted)
        return ParseResult(data, self._wanted.schema, trace, self.text)
