"""Promises of the models that tables of fields and defaults don't show."""

import pickle
import sys
import threading

import pytest
from pydantic import BaseModel, ValidationError

import evonb.typing as public
from evonb.typing import (
    CodeExecDockerConfig,
    EmbedUsage,
    LLMChatResponse,
    Reranking,
    RerankUsage,
    SearchResult,
    SpecialNode,
    StdioLink,
    ToolCallResult,
    ToolInnerState,
    ToolManagerState,
)


def test_the_public_face_holds_every_documented_model_and_nothing_private() -> None:
    models = {name for name, value in vars(public).items() if isinstance(value, type) and issubclass(value, BaseModel)}
    assert models <= set(public.__all__)
    assert len(set(public.__all__)) == len(public.__all__)
    assert all(hasattr(public, name) and not name.startswith("_") for name in public.__all__)


def test_a_good_tool_result_needs_no_traceback() -> None:
    assert ToolCallResult(tool_call_id="1", success=True, content=3).traceback is None
    assert ToolCallResult(tool_call_id="1", success=False, content="no", traceback="Traceback ...").traceback


def test_a_search_result_needs_no_id() -> None:
    assert SearchResult(text="t").id == ""


def test_reranking_is_the_usage_of_a_reranking() -> None:
    assert Reranking is RerankUsage


@pytest.mark.parametrize("usage", [EmbedUsage, RerankUsage])
def test_generation_time_takes_whole_and_broken_seconds(usage: type[EmbedUsage] | type[RerankUsage]) -> None:
    assert usage(generation_time=0.25).generation_time == 0.25
    whole = usage(generation_time=3).generation_time
    assert (whole, type(whole)) == (3, int)


def test_tool_states_are_not_shared_between_managers() -> None:
    one, two = ToolManagerState(), ToolManagerState()
    one.state["search"] = ToolInnerState()
    one.state["search"].state["n"] = 1
    assert two.state == {}
    assert ToolInnerState().state == {}


def test_stdio_parameters_are_the_sdks_and_no_more() -> None:
    link = StdioLink(command="python", args=["-m", "server"], env={"A": "1"}, cwd="/srv", read_time_out=2)
    assert link.server_parameters() == {
        "command": "python",
        "args": ["-m", "server"],
        "env": {"A": "1"},
        "cwd": "/srv",
        "encoding": "utf-8",
        "encoding_error_handler": "strict",
    }


def test_stdio_link_refuses_an_unknown_error_handler() -> None:
    with pytest.raises(ValidationError):
        StdioLink(command="python", encoding_error_handler="shrug")  # type: ignore[arg-type]


@pytest.mark.parametrize("model", [CodeExecDockerConfig(), LLMChatResponse(content="x"), StdioLink(command="c")])
def test_models_survive_pickle_and_json(model: BaseModel) -> None:
    assert pickle.loads(pickle.dumps(model)) == model
    assert type(model).model_validate_json(model.model_dump_json()) == model


@pytest.mark.parametrize("name", ["Start", "START", "", " end"])
def test_names_that_only_look_special_are_free(name: str) -> None:
    assert not SpecialNode.is_special_node(name)


def test_special_node_helpers_take_members() -> None:
    assert SpecialNode.is_special_node(SpecialNode.START)
    assert SpecialNode.is_special_node(SpecialNode.END)


def test_first_use_from_many_threads_at_once_builds_one_working_model() -> None:
    # Validators are built on first use; the first uses may well be tool calls in worker threads.
    class Fresh(LLMChatResponse):
        extra: int = 0

    barrier, results = threading.Barrier(8), list[Fresh]()

    def use() -> None:
        barrier.wait(timeout=10)
        results.append(Fresh.model_validate({"content": "x", "extra": 1}))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=use) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=30)
    finally:
        sys.setswitchinterval(before)
    assert results == [Fresh(content="x", extra=1)] * 8
