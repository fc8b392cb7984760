"""The codec gives back what it was given, of the same types all the way down, and runs no code to do so."""

from __future__ import annotations

import copy
import datetime as dt
import json
import math
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from decimal import Decimal
from fractions import Fraction
from ipaddress import ip_address, ip_network
from pathlib import Path, PurePosixPath, PureWindowsPath
from re import compile as pattern
from threading import Lock
from types import ModuleType
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, PrivateAttr

from evonb.errors import StateError
from evonb.graph.isolate import wrap
from evonb.persistence import StandIn, StoreError, decode, decode_mapping, encode, encode_mapping, stand_ins
from evonb.persistence.codec import decode_late
from evonb.typing import MISSING, AssistantMessage, Function, ToolCall, UserMessage
from tests.unit.persistence.samples import (
    Access,
    Box,
    Closing,
    Colour,
    Doubled,
    Frozen,
    Level,
    Numbers,
    Open,
    Order,
    Picky,
    Place,
    Refused,
    Tag,
)


def back(value: Any) -> Any:
    encoded = encode(value)
    json.loads(encoded.text)
    encoded.text.encode()  # SQLite wants UTF-8
    return decode(encoded.text, encoded.blobs.__getitem__)


def same(a: Any, b: Any) -> bool:
    """Equal, and of the same types all the way down."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return (
            list(a) == list(b)
            and all(same(x, y) for x, y in zip(a, b, strict=True))
            and all(same(a[k], b[k]) for k in a)
        )
    if isinstance(a, list | tuple | deque):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, BaseModel):
        extra = same(a.__pydantic_extra__, b.__pydantic_extra__)
        return extra and same(a.__dict__, b.__dict__) and a.model_fields_set == b.model_fields_set
    if isinstance(a, Frozen):
        return same((a.a, a.b), (b.a, b.b))
    if isinstance(a, float):
        return a == b and math.copysign(1, a) == math.copysign(1, b) if a == a else b != b
    return bool(a == b)


PARIS = ZoneInfo("Europe/Paris")
VALUES: list[Any] = [
    *(None, True, 0, -1, 2**70, 10**5000, 1.5, -0.0, math.inf, math.nan, 2 + 3j, ..., MISSING),
    *(
        "",
        "é",
        "\x00",
        "\ud800 half a pair",
        "long \ud800" * 400,
        "x" * 5000,
        b"",
        b"\xff\x00",
        b"y" * 5000,
        bytearray(b"z"),
    ),
    *([], {}, (), set(), frozenset(), [1, [2, (3, {4})]], (1,), {1: "a", (2, 3): "b", None: "c", False: "d"}),
    *({"$": 1}, {"$": "tuple", "v": [1]}, {"a": {"$": {"$": 2}}}, {"1": 1, 1: 2} and {1: 2}, frozenset({(1, "a")})),
    *(list(range(1000)), [{"role": "user", "content": "hello " * 20, "i": i} for i in range(100)], range(1, 9, 2)),
    *(
        deque([1, 2], 5),
        Counter("aab"),
        OrderedDict([("b", 1), ("a", 2)]),
        defaultdict(list, {"a": [1]}),
        slice(1, None),
    ),
    *(dt.date(2024, 2, 29), dt.time(1, 2, 3, 4), dt.timedelta(-1, 2, 3), dt.datetime(2024, 1, 1, tzinfo=dt.UTC)),
    *(dt.datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=PARIS), dt.timezone(dt.timedelta(hours=2), "X"), PARIS, dt.UTC),
    *(Decimal("1.10"), Decimal("-Infinity"), Fraction(1, 3), UUID(int=7), ip_address("::1"), ip_network("10.0.0.0/8")),
    *(Path("a/b"), PurePosixPath("/x"), PureWindowsPath("c:/x"), pattern("a+", 2), pattern(b"b")),
    *(int, dict, Order, Order.Kind, Order.Kind.PARCEL, Access.READ | Access.WRITE, Access(0), Level.LOW, Colour.RED),
    *(Order(kind=Order.Kind.PARCEL, lines=(Order.Line(price=1.5, tags={"a"}),)), Order(), Open(name="y", more=[1])),
    *(
        Box[int](content=3),
        Box[Order](content=Order()),
        Box(content="any"),
        Place(1),
        Frozen(1, (2, 3)),
        Numbers([1, 2]),
    ),
    UserMessage(content="hi", msg_id="1"),
    AssistantMessage(content="", tool_calls=[ToolCall(id="1", function=Function(name="f", arguments="{}"), index=0)]),
]


@pytest.mark.parametrize(
    "value", VALUES, ids=lambda value: f"{type(value).__name__}-{str(value)[:20]!a}" if value != 10**5000 else "huge"
)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    assert same(back(value), value)
    assert same(back([{"k": (value,)}]), [{"k": (value,)}])


ATOMS = (
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.text(st.characters()), st.binary()),
    *(st.datetimes(timezones=st.none() | st.timezones()), st.dates(), st.timedeltas()),
    *(st.decimals(allow_nan=False), st.uuids(), st.sampled_from([*Order.Kind, *Access, Level.LOW, MISSING])),
)
KEYS = st.text() | st.integers() | st.just("$") | st.tuples(st.integers(), st.text())


def containers(part: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    plain = st.lists(part, max_size=40) | st.dictionaries(KEYS, part, max_size=5) | st.tuples(part, part)
    objects = st.builds(Open, name=st.text(), extra=part) | st.builds(Frozen, st.integers(), st.tuples(part))
    return plain | objects | st.sets(st.integers() | st.text())


TREES = st.recursive(st.one_of(*ATOMS), containers, max_leaves=30)


@given(TREES)
def test_any_tree_of_values_comes_back(value: Any) -> None:
    assert same(back(value), value)


@given(st.dictionaries(st.text() | st.just("$"), TREES, max_size=4))
def test_a_mapping_comes_back_with_its_keys_in_order(values: dict[str, Any]) -> None:
    encoded = encode_mapping(values)
    assert same(decode_mapping(encoded.text, encoded.blobs.__getitem__), values)


def test_what_a_model_keeps_beside_its_fields_comes_back() -> None:
    order = Order.model_construct(kind="not checked")
    order._seen = 3
    restored = back(order)
    assert restored._seen == 3
    assert restored.kind == "not checked"
    assert restored.model_fields_set == {"kind"}


def test_objects_are_made_without_running_their_init() -> None:
    value = Doubled(2)
    value.double, value.runs = 7, 1
    restored = back(value)
    assert (restored.a, restored.double, restored.runs, restored.note) == (2, 7, 1, "set besides")


def test_a_subclass_of_text_keeps_its_type_and_its_attributes() -> None:
    tag = Tag("a")
    tag.note = "b"
    restored = back(tag)
    assert type(restored) is Tag
    assert (restored, restored.note) == ("a", "b")


def test_an_error_comes_back_without_its_traceback() -> None:
    restored = back(Refused(4, "no"))
    assert type(restored) is Refused
    assert (restored.args, restored.code) == ((4, "no"), 4)


def test_a_class_made_in_a_function_comes_back_in_the_same_process() -> None:
    class Here(BaseModel):
        a: int

    assert back(Here(a=1)) == Here(a=1)


def test_what_a_node_was_handed_is_stored_as_plain_containers() -> None:
    handed = wrap({"a": [1, {"b": {2}}], "m": [UserMessage(content="x")]})
    assert same(back(handed), {"a": [1, {"b": {2}}], "m": [UserMessage(content="x")]})


def test_equal_sets_have_one_form() -> None:
    # 8 and 16 meet in a small table, so that the order of insertion shows in the order of iteration.
    assert list({8, 16}) != list({16, 8})
    assert encode({8, 16}).text == encode({16, 8}).text


# --- what can't be stored ------------------------------------------------------------------


def test_an_error_names_the_path_and_the_type() -> None:
    with open(__file__, encoding="utf-8") as file, pytest.raises(StateError) as caught:
        encode_mapping({"ok": 1, "a": [1, {"b": file}]})
    assert caught.value.what == "a[1].b is a _io.TextIOWrapper, which can't be stored"
    assert "dataclass" in caught.value.fix


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"two words": [Lock()]}, "v['two words'][0]"),
        ({1: Lock()}, "v[1]"),
        (Open(x=(1, Lock())), "v.x[1]"),
        (Frozen(1, (Lock(),)), "v.b[0]"),  # type: ignore[arg-type]
        (Place(1, Lock()), "v[1]"),  # type: ignore[arg-type]
        (deque([Lock()]), "v[0]"),
        (defaultdict(lambda: 1), "v"),
        (lambda: 1, "v"),
        ((each for each in ()), "v"),
        (dt.datetime(2024, 1, 1, tzinfo=type("Odd", (dt.tzinfo,), {})()), "v"),
    ],
)
def test_the_path_leads_through_every_container(value: Any, path: str) -> None:
    with pytest.raises(StateError) as caught:
        encode(value, "v")
    assert caught.value.what.startswith(f"{path} is a ")


def test_data_with_a_cycle_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(StateError, match="holds itself"):
        encode(loop)


def test_deep_data_is_stored_or_refused_but_never_half() -> None:
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(StateError, match="nested too deeply"):
        encode(deep)


def test_a_property_that_raises_is_told_as_what_it_is() -> None:
    class Broken(dict[str, Any]):
        @property
        def __dict__(self) -> Any:  # type: ignore[override]
            raise OSError("gone")

    with pytest.raises(StateError, match="OSError: gone"):
        encode(Broken())


def test_a_lenient_encoding_keeps_the_rest_and_tells_each_key_once() -> None:
    encoded = encode_mapping({"a": [1, Lock(), Lock()], "b": 2, "c": Lock()}, lenient=True)
    assert [(key, error.what.partition(" is ")[0]) for key, error in encoded.problems] == [("a", "a[1]"), ("c", "c")]
    values = decode_mapping(encoded.text, encoded.blobs.__getitem__)
    assert values["b"] == 2
    assert values["a"][0] == 1
    assert [path for path, _ in stand_ins(values)] == ["a[1]", "a[2]", "c"]
    assert values["c"].type_name == "_thread:lock"


def test_a_private_attribute_that_has_a_default_may_be_unstorable() -> None:
    assert back(WithLock(a=1)).a == 1
    assert type(back(WithLock(a=1))._lock) is type(Lock())


class WithLock(BaseModel):
    a: int
    _lock: Any = PrivateAttr(default_factory=Lock)


# --- classes that are gone or have changed ---------------------------------------------------


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("shop_of_test")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def define(module: ModuleType, source: str) -> Any:
    exec(source, module.__dict__)
    return module


ITEM = "from dataclasses import dataclass\n@dataclass\nclass Item:\n    name: str\n    price: int = 1\n"


def test_a_class_that_is_gone_leaves_a_stand_in_with_the_data(shop: ModuleType) -> None:
    encoded = encode([define(shop, ITEM).Item("pen", 3)])
    del shop.Item  # type: ignore[attr-defined]
    (found,) = decode(encoded.text, encoded.blobs.__getitem__)
    assert isinstance(found, StandIn)
    assert (found.type_name, found.data, found.name) == ("shop_of_test:Item", {"name": "pen", "price": 3}, "pen")
    assert "holds no class Item" in found.reason
    with pytest.raises(AttributeError, match="has no 'colour'"):
        _ = found.colour
    assert encode([found]).text == encoded.text


def test_a_stand_in_can_be_copied_as_the_state_copies_its_values(shop: ModuleType) -> None:
    encoded = encode(define(shop, ITEM).Item("pen", 3))
    del shop.Item  # type: ignore[attr-defined]
    found = decode(encoded.text, encoded.blobs.__getitem__)
    copied = copy.deepcopy(found)
    assert copied == found
    assert copied.name == wrap({"item": found})["item"].name == "pen"


def test_a_stand_in_becomes_the_value_again_when_its_class_is_back(shop: ModuleType) -> None:
    item = define(shop, ITEM).Item("pen", 3)
    encoded = encode(item)
    cls = shop.__dict__.pop("Item")
    again = encode(decode(encoded.text, encoded.blobs.__getitem__))
    shop.Item = cls  # type: ignore[attr-defined]
    assert decode(again.text, again.blobs.__getitem__) == item


def test_a_module_that_is_not_imported_stays_so(shop: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = encode(define(shop, ITEM).Item("pen"))
    text = encoded.text.replace("shop_of_test", "antigravity")
    found = decode(text, encoded.blobs.__getitem__)
    assert isinstance(found, StandIn)
    assert "antigravity isn't imported" in found.reason
    assert "antigravity" not in sys.modules


@pytest.mark.parametrize(
    "name", ["os:system", "builtins:eval", "builtins:object.__subclasses__", "no-such", "os:environ"]
)
@pytest.mark.parametrize("tag", ["class", "dataclass", "model", "enum", "error", "derived", "namedtuple"])
def test_a_name_in_a_file_is_never_called(name: str, tag: str) -> None:
    form = {"$": tag, "t": name, "n": "A", "v": ["echo broken > /dev/null"], "d": {}}
    assert isinstance(decode(json.dumps(form), {}.__getitem__), StandIn)


def test_attributes_in_a_file_are_kept_and_steer_nothing() -> None:
    value = Doubled(2)
    value.double, value.runs = 7, 1
    form = json.loads(encode(value).text)
    form["d"] = {"__class__": json.loads(encode(Closing).text), "shown": "kept"}
    restored = decode(json.dumps(form), {}.__getitem__)
    assert type(restored) is Doubled
    assert vars(restored)["shown"] == "kept"


def test_an_error_is_made_without_a_new_of_its_own() -> None:
    error = Picky.__new__(Picky, "text")
    Picky.made.clear()
    assert type(back(error)) is Picky
    assert Picky.made == []


@pytest.mark.parametrize("error", [OSError(2, "gone"), KeyError("a"), ExceptionGroup("both", [ValueError("x")])])
def test_errors_of_every_layout_come_back(error: Exception) -> None:
    restored = back(error)
    assert type(restored) is type(error)
    assert str(restored) == str(error)


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        (ITEM + "    colour: str = 'red'\n", "red"),
        (ITEM.replace("    price: int = 1\n", ""), "has no field 'price' any more"),
        (ITEM.replace("price: int = 1", "weight: int"), "has no field 'price' any more|'weight' is new"),
        ("class Item: pass\n", "isn't a dataclass any more"),
        ("Item = 3\n", "isn't a class any more"),
    ],
)
def test_a_changed_class_gets_its_new_defaults_or_a_stand_in(shop: ModuleType, change: str, outcome: str) -> None:
    encoded = encode(define(shop, ITEM).Item("pen", 3))
    define(shop, change)
    found = decode(encoded.text, encoded.blobs.__getitem__)
    if isinstance(found, StandIn):
        assert any(each in found.reason for each in outcome.split("|"))
        assert found.data == {"name": "pen", "price": 3}
    else:
        assert (found.name, found.price, found.colour) == ("pen", 3, outcome)


MODEL = "from pydantic import BaseModel, PrivateAttr\nclass M(BaseModel):\n    a: int\n"


@pytest.mark.parametrize(
    ("change", "is_stand_in"),
    [
        (MODEL + "    b: list = []\n    _p: int = PrivateAttr(default=5)\n", False),
        (MODEL + "    b: int\n", True),
        (MODEL.replace("a: int", "c: int = 1"), True),
    ],
)
def test_a_changed_model_gets_its_new_defaults_or_a_stand_in(shop: ModuleType, change: str, is_stand_in: bool) -> None:
    encoded = encode(define(shop, MODEL).M(a=1))
    define(shop, change)
    found = decode(encoded.text, encoded.blobs.__getitem__)
    assert isinstance(found, StandIn) is is_stand_in
    assert found.a == 1
    if not is_stand_in:
        assert (found.b, found._p) == ([], 5)


def test_an_enum_member_is_found_by_name_then_by_value(shop: ModuleType) -> None:
    source = "import enum\nclass E(enum.Enum):\n    A = 1\n"
    encoded = encode(define(shop, source).E.A)
    define(shop, source.replace("A = 1", "A = 2"))
    assert decode(encoded.text, {}.__getitem__).value == 2
    define(shop, source.replace("A = 1", "B = 1"))
    assert decode(encoded.text, {}.__getitem__).name == "B"
    define(shop, source.replace("A = 1", "C = 3"))
    assert isinstance(decode(encoded.text, {}.__getitem__), StandIn)


@pytest.mark.parametrize("text", ["", "{", "[1,", "nope"])
def test_a_damaged_text_is_one_clear_error(text: str) -> None:
    with pytest.raises(StoreError, match="isn't readable"):
        decode(text, {}.__getitem__)


def test_a_form_of_a_later_version_leaves_a_stand_in() -> None:
    assert isinstance(decode('{"$":"no such tag","v":1}', {}.__getitem__), StandIn)


# --- sharing -------------------------------------------------------------------------------


def test_what_repeats_is_one_blob() -> None:
    image = "data:image/png;base64," + "A" * 300_000
    encoded = encode([{"image": image}, {"image": image}, {"raw": image.encode()}])
    assert len(encoded.blobs) == 1
    assert len(encoded.text) < 300


def test_a_list_that_grows_shares_all_but_its_end() -> None:
    messages = [UserMessage(content=f"message {i} " * 10, msg_id=str(i)) for i in range(200)]
    known: dict[str, bytes] = {}
    written = 0
    for count in range(1, 201):
        encoded = encode_mapping({"messages": messages[:count]})
        written += len(encoded.text) + sum(len(body) for digest, body in encoded.blobs.items() if digest not in known)
        known |= encoded.blobs
    assert written < 8 * len(encode(messages[:1]).text) * 200
    assert decode_mapping(encoded.text, known.__getitem__) == {"messages": messages}


def test_a_list_of_thousands_is_shared_as_well() -> None:
    rows = [{"role": "user", "content": f"row {i} " * 12} for i in range(3000)]
    before, after = encode(rows[:-1]), encode(rows)
    new = [body for digest, body in after.blobs.items() if digest not in before.blobs]
    assert len(after.text) + sum(map(len, new)) < 6000
    assert same(decode(after.text, after.blobs.__getitem__), rows)


def test_a_large_value_that_did_not_change_is_shared() -> None:
    table = {f"row {i}": {"a": i, "b": str(i)} for i in range(500)}
    first, second = encode_mapping({"table": table, "n": 1}), encode_mapping({"n": 2, "table": dict(table)})
    assert first.blobs == second.blobs
    assert len(second.text) < 100


# --- late -----------------------------------------------------------------------------------------


def test_a_late_mapping_decodes_only_what_is_asked_for_and_that_once() -> None:
    values = {"n": 1, "$odd, {key}": [1, (2, 3)], "text": "a, b: {}" * 900, "order": {"deep": [MISSING]}, "none": None}
    encoded = encode_mapping(values)
    asked: list[str] = []

    def read(text: str) -> Any:
        asked.append(text)
        return decode(text, encoded.blobs.__getitem__)

    late = decode_late(encoded.text, read)
    assert (list(late), len(late), "text" in late, "nothing" in late) == (list(values), 5, True, False)
    assert asked == []
    assert late["$odd, {key}"] is late["$odd, {key}"]
    assert len(asked) == 1
    assert late == values == dict(late)
    assert len(asked) == 5
    with pytest.raises(KeyError):
        late["nothing"]
    assert decode_late("{}", read) == {}


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"a"', '{"a":', '{"a":1', '{"a":}', '{"a":1,"b"', "null"])
def test_a_late_mapping_of_a_damaged_text_is_refused(text: str) -> None:
    with pytest.raises(StoreError, match="isn't readable"):
        decode_late(text, lambda value: value)
