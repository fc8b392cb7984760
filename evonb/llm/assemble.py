"""One message out of the chunks in which a server streams it. Pure: values in, values out.

A whole reply is read as a stream of one chunk, so both ways lead to the same message. Nothing here raises: what a
chunk lacks or bends is left out, because half the servers lack or bend something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from uuid import uuid4

from evonb.llm.calls import CallAssembly
from evonb.llm.thinking import Thinking, ThinkTags
from evonb.typing import ChatStreamChunk, ChatUsage, LLMChatResponse

__all__ = ["INLINE", "REASONING_FIELDS", "StreamAssembly", "assemble", "from_reply"]

REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text", "thinking", "thought")
"""The names under which servers send what the model thought; the first one that holds text counts."""

INLINE = "content"
"""Where reasoning is that came between tags in the text."""


class StreamAssembly:
    """The message so far. Feed it chunks; it tells what each added, and the whole at any time.

    Args:
        think_tags: How `<think>` tags in the text are read; see `ThinkTags`.

    Attributes:
        finish_reason: Why the model stopped, once the server has said so.
    """

    def __init__(self, think_tags: ThinkTags = "auto") -> None:
        self.finish_reason: str | None = None
        self._written = _Text()
        self._thinking = Thinking(think_tags)
        self._content: list[str] = []
        self._reasoning = _Text()
        self._calls = CallAssembly()
        self._id = ""
        self._usage: dict[str, Any] = {}
        self._meta: dict[str, Any] = {}

    @property
    def is_blank(self) -> bool:
        """Whether no text and no tool call has come yet."""
        return not (self._written.whole or self._reasoning.whole or self._calls.calls(str))

    def feed(self, chunk: Any) -> ChatStreamChunk | None:
        """Take one chunk.

        Returns:
            The text that it adds, or None when it adds none.
        """
        if not isinstance(chunk, Mapping):
            return None
        self._about(chunk)
        choice = _first_choice(chunk.get("choices"))
        if choice is None:
            return None
        self.finish_reason = choice.get("finish_reason") or self.finish_reason
        delta = self._delta(choice)
        content, reasoning = _texts(delta)
        self._calls.feed(delta.get("tool_calls"))
        self._calls.feed(_legacy_call(delta.get("function_call")))
        parted = self._thinking.feed(self._written.add(content))
        self._content.append(parted.content)
        return _piece(parted.content, self._reasoning.add(reasoning + parted.reasoning))

    def end(self) -> ChatStreamChunk | None:
        """No chunk follows: the last piece of text, if one was held back as the possible beginning of a tag."""
        return _piece(*self._thinking.rest())

    def response(
        self, *, generation_time: float | None = None, new_id: Callable[[], str] | None = None
    ) -> LLMChatResponse:
        """The message as it stands.

        Args:
            generation_time: Seconds since the request, for the usage.
            new_id: Makes an id for each tool call that came without one.
        """
        usage = {**self._usage, **({} if generation_time is None else {"generation_time": generation_time})}
        meta = {**self._meta, **({"finish_reason": self.finish_reason} if self.finish_reason else {})}
        if self._thinking.found:
            meta.setdefault("reasoning_field", INLINE)
        rest = self._thinking.rest()
        return LLMChatResponse(
            content="".join(self._content) + rest.content + self._written.torn,
            tool_calls=self._calls.calls(new_id or (lambda: f"call_{uuid4().hex[:24]}")),
            reasoning_content=self._reasoning.whole + rest.reasoning or None,
            usage=ChatUsage(**usage) if usage else None,
            id=self._id,
            meta=meta,
        )

    def _about(self, chunk: Mapping[str, Any]) -> None:
        """What a chunk says beside its choices."""
        self._id = self._id or str(chunk.get("id") or "")
        if chunk.get("model"):
            self._meta["model"] = chunk["model"]
        for name in ("prompt_filter_results", "prompt_annotations"):
            self._keep_filter("prompt", chunk.get(name))
        vendor = chunk.get("x_groq")
        for holder in (chunk, vendor if isinstance(vendor, Mapping) else {}):
            if isinstance(holder.get("usage"), Mapping):
                self._usage.update(_usage(holder["usage"]))

    def _delta(self, choice: Mapping[str, Any]) -> Mapping[str, Any]:
        """The delta of a choice, wherever the server put it; empty when the choice only reports."""
        self._keep_filter("content", choice.get("content_filter_results"))
        delta = choice.get("delta")
        if not isinstance(delta, Mapping):
            # A whole message ends some streams as a summary: it counts only when nothing came before it.
            message = choice.get("message")
            delta = message if isinstance(message, Mapping) and self.is_blank else {}
        if not delta and isinstance(choice.get("text"), str):
            delta = {"content": choice["text"]}
        if isinstance(delta.get("refusal"), str):
            self._meta["refusal"] = self._meta.get("refusal", "") + delta["refusal"]
        field = _reasoning_field(delta)
        if field and field != REASONING_FIELDS[0]:
            self._meta["reasoning_field"] = field
        return delta

    def _keep_filter(self, kind: str, report: Any) -> None:
        if report:
            self._meta.setdefault("filters", {})[kind] = report


def assemble(
    chunks: Iterable[Any], *, new_id: Callable[[], str] | None = None, think_tags: ThinkTags = "auto"
) -> LLMChatResponse:
    """The message that all these chunks make together.

    Example:
        >>> deltas = [{"content": "Hel"}, {"content": "lo"}]
        >>> assemble({"choices": [{"index": 0, "delta": delta}]} for delta in deltas).content
        'Hello'
    """
    assembly = StreamAssembly(think_tags)
    for chunk in chunks:
        assembly.feed(chunk)
    return assembly.response(new_id=new_id)


def from_reply(
    reply: Any, *, new_id: Callable[[], str] | None = None, think_tags: ThinkTags = "auto"
) -> LLMChatResponse:
    """The message of a reply that came whole, with `choices[0].message`."""
    return assemble([reply], new_id=new_id, think_tags=think_tags)


class _Text:
    """Text that grows; halves of one character that came in two pieces are joined again."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._half = ""

    @property
    def whole(self) -> str:
        return "".join(self._parts) + self.torn

    @property
    def torn(self) -> str:
        """What stands for half a character whose other half hasn't come."""
        return "\ufffd" if self._half else ""

    def add(self, piece: str) -> str:
        text, self._half = self._half + piece, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        if any("\ud800" <= char <= "\udfff" for char in text):
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        self._parts.append(text)
        return text


def _first_choice(choices: Any) -> Mapping[str, Any] | None:
    """The choice that we follow: index 0, or the one without an index. Several are asked for by nobody here."""
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, Mapping) and choice.get("index") in (0, None):
            return choice
    return None


def _texts(delta: Mapping[str, Any]) -> tuple[str, str]:
    """Content and reasoning of a delta, whose content is text, nothing, or a list of typed parts."""
    content = delta.get("content")
    field = _reasoning_field(delta)
    reasoning = _flat(delta[field]) if field else ""
    if isinstance(content, list):
        parts = [part for part in content if not _is_thinking(part)]
        thoughts = "".join(_flat(part) for part in content if _is_thinking(part))
        return "".join(map(_flat, parts)), reasoning or thoughts
    return content if isinstance(content, str) else "", reasoning


def _is_thinking(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") in ("thinking", "reasoning")


def _reasoning_field(delta: Mapping[str, Any]) -> str | None:
    for name in (*REASONING_FIELDS, "reasoning_details"):
        if _flat(delta.get(name)):
            return name
    return None


def _flat(value: Any) -> str:
    """The text in a string, in a part, or in a list of those."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return next((_flat(value[key]) for key in ("text", "thinking", "content", "summary") if value.get(key)), "")
    return "".join(map(_flat, value)) if isinstance(value, list) else ""


def _piece(content: str, reasoning: str) -> ChatStreamChunk | None:
    if not (content or reasoning):
        return None
    return ChatStreamChunk(content=content or None, reasoning_content=reasoning or None)


def _legacy_call(call: Any) -> Any:
    """The single call of the interface before `tool_calls`, as a piece of the first call."""
    return {**call, "index": 0} if isinstance(call, Mapping) else None


def _usage(raw: Mapping[str, Any]) -> dict[str, int]:
    names = {
        "prompt_tokens": ("prompt_tokens", "input_tokens"),
        "completion_tokens": ("completion_tokens", "output_tokens"),
        "total_tokens": ("total_tokens",),
    }
    found = {ours: next((raw[name] for name in theirs if name in raw), None) for ours, theirs in names.items()}
    return {ours: count for ours, count in found.items() if isinstance(count, int)}
