"""`InputForm`: a form for the inputs of a graph, made from its state schema; an ipywidget like any other.

It stands in a `VBox`, `form["topic"]` is the widget of one key (for `jslink`), `form.value` are the inputs, and
`interact(function, inputs=form)` calls back whenever they change.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Protocol, Union, get_args, get_origin

import ipywidgets
import traitlets

from evonb.errors import StateError
from evonb.graph.annotations import Declared, declared_keys, strategy_name
from evonb.protocol.preview import full_text
from evonb.typing import UserMessage
from evonb.widgets.expectations import in_words, members_of
from evonb.widgets.literals import read_value

__all__ = ["InputForm"]

TEXT_ROWS = 3


class HasSchema(Protocol):
    """What a form needs of a graph."""

    @property
    def state_schema(self) -> Any: ...


class InputForm(ipywidgets.VBox, ipywidgets.ValueWidget):
    """One field for each state key. A field left empty is left out, so that the schema's default stands.

    Attributes:
        value: The inputs, read and checked; keeps its last right value while a field holds something wrong.
        faults: What is wrong, by key; empty when all is right.

    Args:
        graph: An engine, or a state schema.
        inputs: First values.
    """

    value = traitlets.Dict()
    faults = traitlets.Dict()

    def __init__(self, graph: HasSchema | type, inputs: Mapping[str, Any] | None = None, **options: Any) -> None:
        schema = graph if isinstance(graph, type) else graph.state_schema
        self._evo_keys = {key.name: key for key in declared_keys(schema)}
        self._evo_fields: dict[str, Any] = {}
        self._evo_notes: dict[str, Any] = {}
        rows = [self._evo_row(key, (inputs or {}).get(key.name)) for key in self._evo_keys.values()]
        if not rows:
            rows = [ipywidgets.HTML("This graph takes any keys; it has no schema to make a form of.")]
        super().__init__(children=rows, **options)
        self._evo_read()

    def __getitem__(self, key: str) -> Any:
        """The widget of a key."""
        return self._evo_fields[key]

    def inputs(self) -> dict[str, Any]:
        """The inputs.

        Raises:
            StateError: A field holds something wrong; the first is named.
        """
        if self.faults:
            key, fault = next(iter(self.faults.items()))
            raise StateError(f"{key}: {fault}", where="the input form", fix=f"mend the field {key!r}")
        return dict(self.value)

    def _evo_row(self, key: Declared, value: Any) -> Any:
        field = _field(key, value)
        note = ipywidgets.Label(in_words(key.annotation, _extras(key)))
        self._evo_fields[key.name], self._evo_notes[key.name] = field, note
        field.observe(lambda _: self._evo_read(), "value")
        return ipywidgets.HBox([field, note])

    def _evo_read(self) -> None:
        """Read all fields, and say at each what is wrong."""
        found: dict[str, Any] = {}
        faults: dict[str, str] = {}
        for name, key in self._evo_keys.items():
            try:
                value = _read(key, self._evo_fields[name].value)
            except StateError as error:
                faults[name] = error.what
                self._evo_notes[name].value = f"✗ {error.what}"
                continue
            self._evo_notes[name].value = in_words(key.annotation, _extras(key))
            if value is not _NOTHING:
                found[name] = value
        self.faults = faults
        if not faults:
            self.value = found


_NOTHING = object()


def _read(key: Declared, shown: Any) -> Any:
    """The input that a field means, `_NOTHING` for an empty one."""
    if shown is None or shown is _NOTHING:
        return _NOTHING
    if not isinstance(shown, str):
        return shown
    if not shown.strip():
        return _NOTHING
    if strategy_name(key.metadata) == "append_messages" and shown.lstrip()[:1] not in ("[", "{"):
        return [UserMessage(content=shown)]
    return read_value(shown, key.annotation, _extras(key), key=key.name)


def _field(key: Declared, value: Any) -> Any:
    """The widget for a key: a choice where there are few values, a number or date field, else text."""
    options = {"description": key.name, "style": {"description_width": "initial"}}
    kind = _bare(key.annotation)
    members = members_of(kind)
    if members is not None:
        choices = [("", _NOTHING), *members]
        chosen = next((each for _, each in members if each == value and value is not None), _NOTHING)
        return ipywidgets.Dropdown(options=choices, value=chosen, **options)
    if kind is datetime.date:
        return ipywidgets.DatePicker(value=value, **options)
    text = "" if value is None else full_text(value)
    if kind in (int, float):
        return ipywidgets.Text(value=text, placeholder=kind.__name__, **options)
    return ipywidgets.Textarea(value=text, rows=1 if kind is str else TEXT_ROWS, **options)


def _bare(annotation: Any) -> Any:
    """`X` of `X | None`."""
    if get_origin(annotation) in (Union, UnionType):
        arms = [arm for arm in get_args(annotation) if arm is not NoneType]
        return arms[0] if len(arms) == 1 else annotation
    return annotation


def _extras(key: Declared) -> tuple[Any, ...]:
    return tuple(item for item in key.metadata if not isinstance(item, str))
