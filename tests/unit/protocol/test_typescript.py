"""The TypeScript twin of the messages: complete, in order, and in step with the committed file."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NotRequired, TypedDict, get_args, is_typeddict

import pytest

from evonb.protocol import events, messages, snapshot
from evonb.protocol.typescript import FILES, generate, main


def module_with(**names: Any) -> ModuleType:
    module = ModuleType("sample")
    for name, value in names.items():
        if is_typeddict(value):
            value.__module__ = "sample"
        setattr(module, name, value)
    return module


def test_the_committed_file_is_in_step_with_the_messages() -> None:
    assert main(["--check"]) == 0


@pytest.mark.parametrize("name", FILES)
def test_check_fails_on_a_file_that_drifted_and_writes_nothing(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["--folder", str(tmp_path)])
    assert main(["--check", "--folder", str(tmp_path)]) == 0
    target = tmp_path / name
    target.write_text(target.read_text().replace("readonly node", "readonly knot"))
    drifted = target.read_text()
    assert main(["--check", "--folder", str(tmp_path)]) == 1
    assert target.read_text() == drifted
    said = capsys.readouterr().err
    assert said.startswith(f"{name} differs")
    assert "fix:" in said


def test_check_fails_where_there_is_no_file(tmp_path: Path) -> None:
    assert main(["--check", "--folder", str(tmp_path)]) == 1


@pytest.mark.parametrize("modules", FILES.values(), ids=FILES)
def test_every_message_and_field_is_declared_once(modules: tuple[ModuleType, ...]) -> None:
    text = generate(*modules)
    declared = re.findall(r"^export (?:interface|type|const) (\w+)", text, re.M)
    assert len(declared) == len(set(declared))
    for name, value in (pair for module in modules for pair in vars(module).items()):
        if is_typeddict(value) and value.__module__ in [module.__name__ for module in modules]:
            body = text.split(f"export interface {name} {{")[1].split("}\n")[0]
            for field in value.__annotations__:
                assert re.search(rf"readonly {field}\??: ", body)


def test_what_another_module_declares_is_imported_not_repeated() -> None:
    text = generate(*FILES["generated_debugging.ts"])
    assert 'import type { Preview, Snapshot } from "./generated.ts";' in text
    assert "interface Preview " not in text


def test_every_event_is_a_member_of_the_union() -> None:
    union = generate(snapshot, events, messages).split("export type WireEvent =")[1].split(";")[0]
    assert [member.strip() for member in union.split("|")[1:]] == [cls.__name__ for cls in get_args(events.WireEvent)]


def test_hints_become_their_counterparts() -> None:
    Item = TypedDict("Item", {"n": int})  # noqa: UP013 - made by call, so that its module can be set
    Color = Literal["red", "blue"]
    Box = TypedDict(  # noqa: UP013
        "Box",
        {
            "flag": bool,
            "maybe": str | None,
            "items": list[Item],
            "grid": list[list[float]],
            "mixed": list[int | str],
            "by_name": dict[str, Item],
            "by_color": dict[Color, int],
            "color": Color,
            "extra": NotRequired[Any],
        },
    )
    text = generate(module_with(LIMIT=3, Color=Color, Item=Item, Box=Box))
    assert "export const LIMIT = 3;" in text
    assert 'export type Color =\n  | "red"\n  | "blue";' in text
    for line in (
        "readonly flag: boolean;",
        "readonly maybe: string | null;",
        "readonly items: readonly Item[];",
        "readonly grid: readonly (readonly number[])[];",
        "readonly mixed: readonly (number | string)[];",
        "readonly by_name: Readonly<Record<string, Item>>;",
        "readonly by_color: Readonly<Record<Color, number>>;",
        "readonly color: Color;",
        "readonly extra?: unknown;",
    ):
        assert line in text


def test_a_hint_that_cannot_travel_is_refused_with_the_allowed_ones() -> None:
    Bad = TypedDict("Bad", {"tags": set[str]})  # noqa: UP013
    with pytest.raises(TypeError, match="TypedDict"):
        generate(module_with(Bad=Bad))
