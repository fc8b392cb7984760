"""`cast_state_message` and what messages keep on a round trip."""

from types import MappingProxyType
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from evonb.errors import EvonbError
from evonb.typing import (
    AssistantMessage,
    ChatUsage,
    Function,
    StateBaseMessage,
    StateMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
    cast_state_message,
)

EVERY_KIND = [
    UserMessage(content="q", msg_id="1", node_name="ask"),
    SystemMessage(content="s", msg_id="2"),
    AssistantMessage(
        content=None,
        msg_id="3",
        reasoning_content="so",
        tool_calls=[ToolCall(id="c", function=Function(name="f", arguments='{"a":'))],
        usage=ChatUsage(total_tokens=3, generation_time=0.5),
    ),
    ToolMessage(content=[{"type": "text", "text": "r"}], msg_id="4", tool_call_id="c"),
    StateBaseMessage(content={"any": 1}, msg_id="5"),
]
NAMES = [type(message).__name__ for message in EVERY_KIND]


@pytest.mark.parametrize("message", EVERY_KIND, ids=NAMES)
def test_a_message_with_its_id_comes_back_as_it_is(message: StateBaseMessage) -> None:
    assert cast_state_message(message) is message


@pytest.mark.parametrize("message", EVERY_KIND, ids=NAMES)
def test_a_message_without_id_is_copied_not_changed(message: StateBaseMessage) -> None:
    bare = message.model_copy(update={"msg_id": None})
    cast = cast_state_message(bare)
    assert bare.msg_id is None
    assert cast.msg_id
    assert type(cast) is type(message)
    assert cast.model_copy(update={"msg_id": message.msg_id}) == message


def test_every_new_id_is_another() -> None:
    ids = {cast_state_message({"role": "user", "content": "same"}).msg_id for _ in range(50)}
    assert len(ids) == 50


@pytest.mark.parametrize("message", EVERY_KIND[:4], ids=NAMES[:4])
def test_a_dumped_message_is_cast_back_to_itself(message: StateBaseMessage) -> None:
    raw = message.model_dump()
    assert cast_state_message(raw) == message
    assert raw == message.model_dump()


def test_a_conversation_survives_json_with_its_classes() -> None:
    adapter: TypeAdapter[list[Any]] = TypeAdapter(list[StateMessage])
    back = adapter.validate_json(adapter.dump_json(EVERY_KIND[:4]))
    assert back == EVERY_KIND[:4]
    assert [type(message) for message in back] == [type(message) for message in EVERY_KIND[:4]]


@pytest.mark.parametrize("message", EVERY_KIND, ids=NAMES)
def test_a_schema_with_messages_takes_an_instance_as_it_is(message: StateBaseMessage) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(StateMessage)
    assert adapter.validate_python(message) is message


def test_any_mapping_will_do() -> None:
    assert type(cast_state_message(MappingProxyType({"role": "user", "content": "q"}))) is UserMessage


def test_a_users_own_message_class_is_kept() -> None:
    class Rated(AssistantMessage):
        stars: int = 0

    cast = cast_state_message(Rated(content="a", stars=5))
    assert isinstance(cast, Rated)
    assert cast.stars == 5


@pytest.mark.parametrize(
    ("bad", "what", "fix"),
    [
        ("hello", "found str: 'hello'", "UserMessage(content=...)"),
        (None, "found NoneType: None", '"role"'),
        ({"content": "q"}, "no role", "'user', 'assistant', 'system', 'tool'"),
        ({"role": "asistant", "content": "q"}, "unknown role 'asistant'", "did you mean 'assistant'?"),
        ({"role": ["user"], "content": "q"}, "unknown role ['user']", "'user'"),
        ({"role": "user"}, "content: Field required", "content"),
        ({"role": "tool", "content": "r"}, "tool_call_id: Field required", "content, tool_call_id"),
        ({"role": "assistant", "content": "", "tool_calls": [{"id": "1"}]}, "tool_calls.0.function", "content"),
    ],
)
def test_what_is_no_message_is_refused_with_what_was_found_and_a_fix(bad: Any, what: str, fix: str) -> None:
    with pytest.raises(EvonbError) as caught:
        cast_state_message(bad)
    assert isinstance(caught.value, ValueError)
    assert what in caught.value.what
    assert fix in caught.value.fix


def test_a_refusal_keeps_the_validators_own_error() -> None:
    with pytest.raises(EvonbError) as caught:
        cast_state_message({"role": "user"})
    assert isinstance(caught.value.__cause__, ValidationError)


def test_a_refusal_of_a_huge_message_stays_short() -> None:
    with pytest.raises(EvonbError) as caught:
        cast_state_message({"role": "nobody", "content": "x" * 100_000})
    assert len(str(caught.value)) < 1000
