"""A model server on loopback whose answers the test writes down, and the pieces of such answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@dataclass
class Answer:
    """What the server does with one request.

    Attributes:
        parts: The body, part by part.
        wait: Called before each part but the first; a test holds the server here.
        cut: Close the connection before the body is complete.
    """

    parts: list[bytes]
    status: int = 200
    content_type: str = "text/event-stream"
    headers: dict[str, str] = field(default_factory=dict)
    wait: Callable[[], object] | None = None
    cut: bool = False


@dataclass
class Asked:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class Stub:
    """The server: `answers` are used up in order (the last one stays), `asked` is what came."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.asked: list[Asked] = []
        self.judge: Callable[[Asked], Answer | None] | None = None
        self.hung_up = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        judged = self.judge(asked) if self.judge else None
        if judged is not None:
            return judged
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._serve({})

            def do_POST(self) -> None:
                self._serve(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def _serve(self, body: dict[str, Any]) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                answer = stub.answer(Asked(self.path, headers, body))
                self.send_response(answer.status)
                length = sum(map(len, answer.parts)) + (1000 if answer.cut else 0)
                fixed = {"Content-Type": answer.content_type, "Content-Length": str(length), "Connection": "close"}
                for name, value in {**fixed, **answer.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self._send(answer)
                self.close_connection = True

            def _send(self, answer: Answer) -> None:
                try:
                    for place, part in enumerate(answer.parts):
                        if place and answer.wait:
                            answer.wait()
                        self.wfile.write(part)
                        self.wfile.flush()
                except OSError:
                    stub.hung_up.set()

            def log_message(self, *_args: Any) -> None:
                pass

        return Handler


@pytest.fixture
def stub() -> Iterator[Stub]:
    server = Stub()
    yield server
    server.close()


class Wire:
    """Makes the bodies of answers."""

    Answer = Answer

    @staticmethod
    def chunk(delta: dict[str, Any], finish: str | None = None, **top: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return b"data: " + json.dumps({"id": "r1", "model": "m", "choices": [choice], **top}).encode() + b"\n\n"

    def text(self, *pieces: str, finish: str = "stop", **options: Any) -> Answer:
        """A stream of these texts."""
        usage = {"prompt_tokens": 3, "completion_tokens": len(pieces), "total_tokens": 3 + len(pieces)}
        body = [self.chunk({"content": piece}) for piece in pieces]
        return Answer([*body, self.chunk({}, finish, usage=usage), b"data: [DONE]\n\n"], **options)

    def deltas(self, *deltas: dict[str, Any], finish: str = "stop") -> Answer:
        return Answer([*(self.chunk(delta) for delta in deltas), self.chunk({}, finish), b"data: [DONE]\n\n"])

    @staticmethod
    def json(value: Any, status: int = 200, **headers: str) -> Answer:
        return Answer([json.dumps(value).encode()], status, "application/json", headers)

    def error(self, status: int, message: str, **headers: str) -> Answer:
        return self.json({"error": {"message": message}}, status, **headers)


@pytest.fixture
def wire() -> Wire:
    return Wire()
