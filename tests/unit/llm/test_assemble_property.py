"""Promises of the assembly, for any chunks: it never raises, and how a message was cut doesn't matter."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from evonb.llm import StreamAssembly, assemble, from_reply
from evonb.llm.thinking import ThinkTags

FIELDS = ["choices", "delta", "message", "text", "content", "finish_reason", "refusal", "reasoning", "usage", "model"]
CALLS = ["tool_calls", "function", "function_call", "arguments", "name", "id", "index", "type", "reasoning_details"]
NAMES = st.sampled_from([*FIELDS, *CALLS, "content_filter_results", "x_groq", "prompt_tokens"])
ATOMS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.sampled_from(["{}", "stop"])
VALUES = st.recursive(ATOMS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4))
CHOICES = st.fixed_dictionaries({"delta": VALUES}, optional={"index": st.just(0), "finish_reason": VALUES})
CHUNKS = VALUES | st.fixed_dictionaries({"choices": st.lists(CHOICES, max_size=2)}, optional={"usage": VALUES})


@given(st.lists(CHUNKS, max_size=6))
@example([{"choices": [{"delta": {"tool_calls": True}}]}])
@example([{"choices": [{"delta": {"tool_calls": 7, "function_call": "f"}}]}])
@settings(max_examples=150, deadline=None)
def test_no_chunk_makes_it_raise(chunks: list[Any]) -> None:
    assembly = StreamAssembly()
    pieces = [*[assembly.feed(chunk) for chunk in chunks], assembly.end()]
    response = assembly.response()
    assert "".join(piece.content or "" for piece in pieces if piece) == response.content.removesuffix("\ufffd")


def cut(draw: Any, text: str) -> list[str]:
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
    return [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_how_a_message_is_cut_doesnt_matter(data: st.DataObject) -> None:
    content, reasoning = data.draw(st.text(max_size=30)), data.draw(st.text(max_size=30))
    arguments = data.draw(st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=5)), max_size=3))
    texts = [json.dumps(value, ensure_ascii=False) for value in arguments]
    deltas: list[dict[str, Any]] = [{"reasoning_content": piece} for piece in cut(data.draw, reasoning)]
    deltas += [{"content": piece} for piece in cut(data.draw, content)]
    for place, text in enumerate(texts):
        first, *rest = cut(data.draw, text)
        head = {"index": place, "id": f"c{place}", "function": {"name": "tool", "arguments": first}}
        deltas.append({"tool_calls": [head]})
        deltas += [{"tool_calls": [{"index": place, "function": {"arguments": piece}}]} for piece in rest]
    response = assemble({"choices": [{"index": 0, "delta": delta}]} for delta in deltas)
    assert (response.content, response.reasoning_content or "") == (content, reasoning)
    assert [call.function.arguments for call in response.tool_calls or ()] == texts
    assert [call.id for call in response.tool_calls or ()] == [f"c{place}" for place in range(len(texts))]


TAGGED = st.lists(
    st.sampled_from(["<think>", "</think>", "<thi", "</", "nk>", "<", " ", "\n", "a", "[THINK]", "[/THINK]"])
)


@given(st.data(), TAGGED, st.sampled_from(["auto", "open", "never"]))
@settings(max_examples=300, deadline=None)
def test_how_tags_are_cut_doesnt_matter_and_nothing_but_tags_is_lost(
    data: st.DataObject, words: list[str], tags: ThinkTags
) -> None:
    text = "".join(words)
    assembly = StreamAssembly(tags)
    pieces = [assembly.feed({"choices": [{"delta": {"content": piece}}]}) for piece in cut(data.draw, text)]
    told = [piece for piece in [*pieces, assembly.end()] if piece]
    whole = from_reply({"choices": [{"message": {"content": text}}]}, think_tags=tags)
    assert "".join(piece.content or "" for piece in told) == assembly.response().content == whole.content
    thought = "".join(piece.reasoning_content or "" for piece in told)
    assert thought == (assembly.response().reasoning_content or "") == (whole.reasoning_content or "")
    kept = iter(text)
    assert all(char in kept for char in thought + whole.content), "the characters in their order"
    if tags == "never":
        assert whole.content == text
