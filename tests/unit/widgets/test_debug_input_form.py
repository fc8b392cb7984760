"""The form of a graph's inputs is an ordinary ipywidget whose value is read with the schema's types."""

from __future__ import annotations

import datetime
import enum
from typing import Annotated, Any, Literal

import ipywidgets
import pytest
from pydantic import BaseModel, Field

from evonb.errors import StateError
from evonb.graph import GraphBuilder
from evonb.typing import UserMessage
from evonb.widgets.input_form import InputForm
from tests.unit.widgets.conftest import RecordingComm


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Owner(BaseModel):
    name: str


class State(BaseModel):
    messages: Annotated[list[Any], "append_messages"] = []
    topic: str = ""
    level: Level = Level.LOW
    rounds: int = Field(0, ge=0)
    owner: Owner | None = None
    due: datetime.date | None = None
    side: Literal["left", "right"] | None = None


@pytest.fixture
def form(comms: list[RecordingComm]) -> InputForm:
    return InputForm(State)


def test_an_empty_form_gives_no_inputs(form: InputForm) -> None:
    assert form.inputs() == {}
    assert form.faults == {}


def test_fields_are_read_with_the_types_of_the_schema(form: InputForm) -> None:
    form["topic"].value = "billing"
    form["level"].value = Level.HIGH
    form["rounds"].value = "2"
    form["owner"].value = "{'name': 'Ada'}"
    form["due"].value = datetime.date(2026, 11, 30)
    form["side"].value = "left"
    assert form.inputs() == {
        "topic": "billing",
        "level": Level.HIGH,
        "rounds": 2,
        "owner": Owner(name="Ada"),
        "due": datetime.date(2026, 11, 30),
        "side": "left",
    }


def test_plain_text_becomes_a_message_of_the_user(form: InputForm) -> None:
    form["messages"].value = "Where is my invoice?"
    (message,) = form.inputs()["messages"]
    assert isinstance(message, UserMessage)
    assert message.content == "Where is my invoice?"


def test_a_wrong_field_is_named_and_the_last_right_value_stays(form: InputForm) -> None:
    form["rounds"].value = "2"
    form["rounds"].value = "-1"
    assert form.value == {"rounds": 2}
    assert "greater than or equal to 0" in form.faults["rounds"]
    assert any("✗" in row.children[1].value for row in form.children)
    with pytest.raises(StateError, match="rounds"):
        form.inputs()
    form["rounds"].value = ""
    assert form.inputs() == {}


def test_it_composes_with_boxes_links_and_interact(form: InputForm) -> None:
    slider = ipywidgets.Text()
    link = ipywidgets.jslink((slider, "value"), (form["topic"], "value"))
    box = ipywidgets.VBox([form, slider])
    assert form in box.children
    assert link.target == (form["topic"], "value")
    seen: list[Any] = []
    called = ipywidgets.interactive(lambda inputs: seen.append(dict(inputs)), inputs=form)
    form["topic"].value = "billing"
    called.update()
    assert seen[-1] == {"topic": "billing"}


def test_first_values_are_shown_and_an_engine_will_do(comms: list[RecordingComm]) -> None:
    builder = GraphBuilder(state_schema=State)
    builder.add_node("a", lambda state: {})
    builder.set_entry_point("a")
    builder.add_edge("a", "end")
    form = InputForm(builder.build(), {"topic": "x", "level": Level.HIGH, "owner": Owner(name="Ada")})
    assert form.inputs() == {"topic": "x", "level": Level.HIGH, "owner": Owner(name="Ada")}


def test_a_graph_without_a_schema_says_so(comms: list[RecordingComm]) -> None:
    form = InputForm(dict)
    assert "any keys" in form.children[0].value
    assert form.inputs() == {}
