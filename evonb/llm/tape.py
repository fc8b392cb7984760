"""The file of a `RecordingModel`: JSON lines, one for each answer. Reading, adding, finding; no models."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from evonb._unicode import encodable
from evonb.errors import EvonbError
from evonb.logger import get_logger
from evonb.typing import ChatStreamChunk, LLMChatResponse

__all__ = ["Recording", "Tape"]


class Recording(BaseModel):
    """One answer.

    Attributes:
        key: The request's fingerprint.
        request: The request itself, for people and for messages about near misses.
        chunks: The pieces in which the answer was streamed.
        response: The whole answer.
    """

    key: str
    request: dict[str, Any]
    chunks: list[ChatStreamChunk]
    response: LLMChatResponse


class Tape:
    """All recordings of a file, and the place in each request's answers.

    A last line that was torn by a crash is passed over.

    Raises:
        EvonbError: The file isn't readable, or a line before the last isn't a recording.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._recordings: dict[str, list[Recording]] = {}
        self._turns: dict[str, count[int]] = {}
        self._is_torn = False
        self._load()

    def __len__(self) -> int:
        return sum(map(len, self._recordings.values()))

    def next(self, key: str) -> Recording | None:
        """The next answer to a request, round and round; None when there is none."""
        answers = self._recordings.get(key)
        if not answers:
            return None
        return answers[next(self._turns.setdefault(key, count())) % len(answers)]

    def add(self, recording: Recording) -> None:
        """Keep an answer, on disk first."""
        plain = encodable(recording.model_dump(mode="json", exclude_none=True))
        line = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            # A torn line is ended here, so that it spoils nothing but itself.
            file.write(("\n" if self._is_torn else "") + line + "\n")
        self._is_torn = False
        self._keep(recording)

    def difference(self, asked: dict[str, Any]) -> str:
        """How a request differs from the recording that is nearest to it, as the end of a sentence."""
        everything = [recording for answers in self._recordings.values() for recording in answers]
        same_talk = [recording for recording in everything if recording.request.get("messages") == asked["messages"]]
        if not same_talk:
            return ""
        other = same_talk[-1].request
        names = sorted(name for name in {*asked, *other} if asked.get(name) != other.get(name))
        return f"; the same conversation is recorded with other {' and '.join(names)}"

    def _keep(self, recording: Recording) -> None:
        self._recordings.setdefault(recording.key, []).append(recording)

    def _load(self) -> None:
        try:
            text = self._path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return
        except (OSError, UnicodeDecodeError) as error:
            raise EvonbError(
                f"The recordings can't be read: {error}",
                where=str(self._path),
                fix="check the file, or use another one",
            ) from error
        lines = text.split("\n")
        self._is_torn = bool(lines[-1])
        for number, line in enumerate(lines, 1):
            if line.strip():
                self._load_line(line, number, is_last=number == len(lines))

    def _load_line(self, line: str, number: int, *, is_last: bool) -> None:
        try:
            self._keep(Recording.model_validate_json(line))
        except ValidationError as error:
            if is_last:
                get_logger(__name__).warning("%s: the last line is incomplete and is passed over", self._path)
                return
            raise EvonbError(
                f"A recording can't be read: {error.errors(include_url=False)[0]['msg']}",
                where=f"{self._path}, line {number}",
                fix="mend or delete the line, or record again into a new file",
            ) from error
