"""Says in which format a reply is written, by trying to read it."""

from __future__ import annotations

from dataclasses import dataclass

from evonb.parsing.clean import clean
from evonb.parsing.failure import Unreadable
from evonb.parsing.gather import gather
from evonb.parsing.limits import MAX_TEXT_CHARS
from evonb.parsing.reading import Reading
from evonb.parsing.schema import OutputFormat
from evonb.parsing.structure import choose, read_whole_json, weight, whole_format
from evonb.parsing.tool_reader import looks_like_call, read_tool_calls
from evonb.parsing.tool_shapes import calls_in

__all__ = ["FormatCandidate", "FormatDetector"]


@dataclass(frozen=True)
class FormatCandidate:
    """A format that a reply may be in.

    Attributes:
        format: The format.
        confidence: From 0 to 1.
        evidence: What speaks for it, in words.
    """

    format: OutputFormat
    confidence: float
    evidence: str


class FormatDetector:
    """Tells the format of a reply. Never raises; text that can't be read as anything else is plain text."""

    def detect(self, text: str | None) -> OutputFormat:
        """The most likely format; UNKNOWN for blank text."""
        return self.rank(text)[0].format

    def detect_with_confidence(self, text: str | None) -> tuple[OutputFormat, float]:
        """The most likely format and how likely it is."""
        best = self.rank(text)[0]
        return best.format, best.confidence

    def rank(self, text: str | None) -> list[FormatCandidate]:
        """All formats that the reply can be read in, best first; never empty."""
        cleaned = clean(text).text if isinstance(text, str) and len(text) <= MAX_TEXT_CHARS else ""
        if not cleaned.strip():
            return [FormatCandidate(OutputFormat.UNKNOWN, 0.0, "there is no text")]
        try:
            found = _candidates(cleaned)
        except Unreadable as error:
            found = [FormatCandidate(OutputFormat.PLAIN_TEXT, 0.3, f"it can't be read: {error}")]
        best: dict[OutputFormat, FormatCandidate] = {}
        for candidate in found:
            if candidate.format not in best or candidate.confidence > best[candidate.format].confidence:
                best[candidate.format] = candidate
        return sorted(best.values(), key=lambda candidate: -candidate.confidence)


def _candidates(text: str) -> list[FormatCandidate]:
    whole = read_whole_json(text)
    if whole is not None:
        found = [FormatCandidate(OutputFormat.JSON, 0.99, "the whole text is valid JSON")]
        return found + _calls(whole, text)
    found = _calls(None, text)
    readings, faults = gather(text)
    if readings:
        chosen = choose(text, readings, frozenset())
        kind = whole_format(text, readings, chosen)
        if kind is OutputFormat.MIXED:
            kinds = ", ".join(dict.fromkeys(reading.format.value for reading in readings))
            found.append(FormatCandidate(kind, 0.97, f"prose with several blocks: {kinds}"))
        found += [_of(reading, text) for reading in readings]
    prose = len(text) - sum(reading.end - reading.start for reading in readings)
    share = max(0.0, min(1.0, prose / len(text)))
    evidence = "; ".join(faults) or f"{share:.0%} of the text is prose"
    return [*found, FormatCandidate(OutputFormat.PLAIN_TEXT, round(0.1 + 0.45 * share, 2), evidence)]


def _calls(whole: Reading | None, text: str) -> list[FormatCandidate]:
    try:
        if whole is not None:
            evidence = "it has the shape of a tool call" if calls_in(whole.value) else ""
        else:
            evidence = "it reads as a tool call" if looks_like_call(text) and read_tool_calls(text) else ""
    except Unreadable:
        return []
    confidence = 0.9 if whole is not None else 0.98
    return [FormatCandidate(OutputFormat.TOOL_CALL, confidence, evidence)] if evidence else []


def _of(reading: Reading, text: str) -> FormatCandidate:
    share = (reading.end - reading.start) / max(1, len(text))
    sure = 0.4 + weight(reading) / 220 - (0.1 if reading.guesses or reading.cut else 0.0)
    words = {"label": "in a fence with its label", "plain": "in a fence", "": f"{share:.0%} of the text"}[
        reading.fenced
    ]
    return FormatCandidate(reading.format, round(max(0.2, min(0.96, sure)), 2), words)
