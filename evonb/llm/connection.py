"""The `openai` package behind one door: its clients, made when first needed, and its errors in our words.

What is asked and how an answer is read belongs to the clients that use this.
"""

from __future__ import annotations

import asyncio
import os
import re
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from weakref import WeakKeyDictionary

from evonb._optional import loaded, require
from evonb._secrets import FromEnv, check_address, without_secrets
from evonb.llm.explain import explain
from evonb.llm.failures import ModelError

__all__ = ["Connection"]

_OPENAI = "https://api.openai.com/v1"
_PLAIN_HEADERS = frozenset(
    ("accept", "accept-language", "anthropic-version", "content-type", "http-referer", "user-agent", "x-title")
)
"""Every other header may be a secret, so its value is never saved."""


class Connection:
    """One server and how to talk to it. May be used from several threads and event loops at once.

    Args:
        base_url: The server's address up to and with `/v1`; None for the variable OPENAI_BASE_URL, or OpenAI itself.
        api_key: None for the variable OPENAI_API_KEY, which is sent to OpenAI and to OPENAI_BASE_URL alone. Servers
            on your own machine usually need none. `FromEnv("NAME")` reads another variable with the first request.
        timeout_s: How long the server may stay silent, at each attempt.
        max_retries: How often a request is repeated, with growing pauses, after 429, 5xx, a time-out or a lost
            connection. A reply that has begun is never asked for again.
        headers: Additional headers; values may be `FromEnv("NAME")` too.

    Raises:
        ModelError: No key is known for OpenAI itself, or `base_url` isn't an address.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | FromEnv | None = None,
        timeout_s: float = 60.0,
        max_retries: int = 2,
        headers: Mapping[str, str | FromEnv] | None = None,
    ) -> None:
        self.base_url = _address(base_url or os.environ.get("OPENAI_BASE_URL") or _OPENAI)
        # The key in the environment was set for these two; another server has no right to it.
        is_meant = self.base_url in (_OPENAI, os.environ.get("OPENAI_BASE_URL", "").rstrip("/"))
        self._key: str | FromEnv = api_key or (os.environ.get("OPENAI_API_KEY", "") if is_meant else "")
        self._key_variable = "OPENAI_API_KEY" if is_meant else "EVONB_API_KEY"
        if not self._key and self.base_url == _OPENAI:
            raise ModelError(
                "No API key is known for api.openai.com",
                where="environment variable OPENAI_API_KEY",
                fix="set OPENAI_API_KEY, pass api_key=..., or pass the base_url of a server that needs none; "
                "evonb.llm.LocalModel runs on this machine without a key",
            )
        self.timeout_s = timeout_s
        self.max_retries = max_retries
        self._headers = dict(headers or {})
        self._sent_key = ""
        self._sync: Any = None
        self._per_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Connection({self.shown!r})"

    @property
    def shown(self) -> str:
        """The address for people: without a password or query, which may be secret."""
        parts = urlsplit(self.base_url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    def to_saved(self) -> dict[str, Any]:
        """The arguments that make it again. In place of a key, the name of the variable that it will come from.

        Raises:
            EvonbError: The address holds a password.
        """
        check_address(self.base_url, "base_url")
        key = FromEnv(self._key_variable) if isinstance(self._key, str) and self._key else self._key or None
        return {
            "base_url": self.base_url,
            "api_key": key,
            "timeout_s": self.timeout_s,
            "max_retries": self.max_retries,
            "headers": without_secrets(self._headers, "EVONB_HEADER_", plain=_PLAIN_HEADERS),
        }

    def sync_client(self) -> Any:
        """The blocking client; made once."""
        with self._lock:
            if self._sync is None:
                self._sync = self._openai().OpenAI(**self._settings())
            return self._sync

    async def async_client(self) -> Any:
        """The client of the running event loop: connections can't be shared between loops."""
        loop = asyncio.get_running_loop()
        if loaded("openai") is None:
            await asyncio.to_thread(self._openai)  # a second or more in which the notebook would stand still
        with self._lock:
            if loop not in self._per_loop:
                self._per_loop[loop] = self._openai().AsyncOpenAI(**self._settings())
            return self._per_loop[loop]

    def close(self) -> None:
        """Close the blocking client's connections; the next request opens new ones."""
        with self._lock:
            client, self._sync = self._sync, None
        if client is not None:
            client.close()

    async def aclose(self) -> None:
        """Close the connections of the running event loop, and the blocking client's."""
        with self._lock:
            client = self._per_loop.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()
        self.close()

    def explained(self, error: Exception, where: str) -> ModelError | None:
        """An error of the `openai` package in our words; None for any other exception."""
        return explain(
            error,
            openai=self._openai(),
            where=where,
            base_url=self.shown,
            waited=f"within {self.timeout_s:g} s",
            tries=f"tried {self.max_retries + 1} times" if self.max_retries else "tried once",
            secret=self._sent_key,
        )

    async def model_names(self) -> list[str]:
        """The models that the server offers; [] when it doesn't tell."""
        try:
            page = await (await self.async_client()).with_options(timeout=5, max_retries=0).models.list()
            return [model.id for model in page.data]
        except Exception:  # the question is a courtesy on the way to another error, so no failure of it may matter
            return []

    def model_names_sync(self) -> list[str]:
        """As `model_names`, for plain functions."""
        try:
            page = self.sync_client().with_options(timeout=5, max_retries=0).models.list()
            return [model.id for model in page.data]
        except Exception:  # see model_names
            return []

    def _settings(self) -> dict[str, Any]:
        self._sent_key = self._read(self._key, "the API key")
        headers = {name: self._read(value, f"the header {name!r}") for name, value in self._headers.items()}
        return {
            "base_url": self.base_url,
            "api_key": self._sent_key or "none-needed",  # the package refuses to work without one
            "timeout": self.timeout_s,
            "max_retries": self.max_retries,
            "default_headers": headers,
        }

    def _read(self, value: str | FromEnv, what: str) -> str:
        return value.read(what, f"model server {self.shown}", ModelError) if isinstance(value, FromEnv) else value

    @staticmethod
    def _openai() -> Any:
        return require("openai", "to talk to a model server")


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.netloc) and not re.search(r"\s", url)
    except ValueError:  # brackets that don't match
        is_address = False
    if not is_address:
        raise ModelError(
            f"base_url {url!r} isn't an address",
            fix="give the whole address with http:// or https://, such as http://127.0.0.1:8080/v1",
        )
    return url.rstrip("/").removesuffix("/chat/completions")
