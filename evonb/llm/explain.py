"""The errors of the `openai` package and of servers, in our words: what happened, where, how to mend it. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from evonb.llm.failures import ModelError, ModelTimeout, ModelUnreachable, RequestRejected

__all__ = ["explain", "with_near_names"]


def explain(
    error: Exception, *, openai: Any, where: str, base_url: str, waited: str, tries: str, secret: str
) -> ModelError | None:
    """An error of the package as one of ours; None when it is no error of the package.

    Args:
        error: What was raised.
        openai: The package, which isn't always installed.
        where: The model and the server.
        base_url: The server's address.
        waited: How long each attempt waited, "within 60 s".
        tries: How often it was tried, "tried 3 times".
        secret: The API key, which never gets into a text.
    """
    if isinstance(error, openai.APITimeoutError):
        return ModelTimeout(
            f"The server didn't answer {waited}, {tries}",
            where=where,
            fix="raise timeout_s, or see whether the server is overloaded",
        )
    if isinstance(error, openai.APIConnectionError):
        return ModelUnreachable(
            f"No server could be reached at {base_url}, {tries}: {_root(error)}",
            where=where,
            fix="start the server, or check base_url and the network",
        )
    if not isinstance(error, openai.APIStatusError):
        return None
    said = _said(error.body)
    said = said.replace(secret, "***") if secret else said
    what, fix = _verdict(error.status_code, said, base_url, tries)
    rejected = RequestRejected(f"{what}{f': {said}' if said else ''}", where=where, fix=fix)
    rejected.status = error.status_code
    return rejected


def with_near_names(error: ModelError, model: str, offered: list[str]) -> ModelError:
    """The error with the models that the server has, when the one that was asked for isn't among them."""
    if offered and model not in offered:
        near = difflib.get_close_matches(model, offered, n=3, cutoff=0.4) or offered[:5]
        error.what = f"The server has no model {model!r}"
        error.fix = f"use one of its models, such as {', '.join(repr(name) for name in near)}"
    return error


def _said(body: Any) -> str:
    """What the server wrote about it, bounded."""
    message = body
    if isinstance(body, Mapping):
        inner = body.get("error") or body.get("detail") or body
        message = body.get("message") or (inner.get("message", inner) if isinstance(inner, Mapping) else inner)
    text = str(message or "").strip()
    return "a web page" if text.startswith("<") else text[:500]


def _verdict(status: int, said: str, base_url: str, tries: str) -> tuple[str, str]:
    """What a status means, and what to do about it."""
    if status in (401, 403):
        return (
            f"The server refused the key ({status})",
            "pass api_key=..., a key of this server (OPENAI_API_KEY is sent to OpenAI and to OPENAI_BASE_URL alone)",
        )
    if status == 404:
        hint = f", such as base_url={base_url + '/v1'!r}" if urlsplit(base_url).path in ("", "/") else ""
        return "The server doesn't know this address or this model (404)", f"check the model's name and base_url{hint}"
    if status == 429:
        return f"The server takes no more requests now (429), {tries}", "wait, ask less often, or raise max_retries"
    if status >= 500:
        return f"The server failed ({status}), {tries}", "try again later, or look at the server's log"
    if "context" in said.lower():
        return f"The conversation is too long for the model ({status})", "send fewer or shorter messages"
    return f"The server refused the request ({status})", "change the option or message that the server names"


def _root(error: BaseException) -> str:
    """The innermost reason, which says what really failed."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) or type(error).__name__
