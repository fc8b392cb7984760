"""Values and runs that the tests of the store share."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, PrivateAttr

from evonb.graph.ports import RunHeader, StoredStep

T = TypeVar("T")


class Order(BaseModel):
    class Kind(enum.Enum):
        LETTER = 1
        PARCEL = "parcel"

    class Line(BaseModel):
        price: float
        tags: set[str] = set()

    kind: Kind = Kind.LETTER
    lines: tuple[Line, ...] = ()
    _seen: int = PrivateAttr(default=0)


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str = "x"


class Box(BaseModel, Generic[T]):
    content: T


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Level(enum.IntEnum):
    LOW = 1


class Colour(enum.StrEnum):
    RED = "red"


class Place(NamedTuple):
    x: int
    y: str = "y"


@dataclass(frozen=True, slots=True)
class Frozen:
    a: int
    b: tuple[int, ...] = ()


@dataclass
class Doubled:
    a: int
    double: int = field(init=False)
    runs: int = 0

    def __post_init__(self) -> None:
        self.double = 2 * self.a
        self.runs += 1
        self.note = "set besides"


class Closing:
    """Its instances may do something when they go, as temporary files do."""


class Picky(ValueError):
    made: ClassVar[list[object]] = []

    def __new__(cls, *args: object) -> Picky:
        cls.made.append(args)
        return super().__new__(cls, *args)


class Tag(str):
    note: str


class Numbers(list[int]):
    pass


class Refused(ValueError):
    def __init__(self, code: int, text: str) -> None:
        super().__init__(code, text)
        self.code = code


def header(run_id: str = "run-1", *, graph: str = "triage", started_at: float = 1000.0, **inputs: Any) -> RunHeader:
    return RunHeader(run_id=run_id, graph_name=graph, name="", started_at=started_at, inputs=inputs, shape="abc")


def step(number: int, delta: Mapping[str, Any] | None = None, **more: Any) -> StoredStep:
    known: dict[str, Any] = {"branch": 0, "node": f"n{number % 5}", "visit": 1, "parents": (number - 1,)}
    known |= {"status": "done", "at_s": number / 10, "duration_s": 0.25}
    return StoredStep(number=number, delta={"count": number} if delta is None else delta, **{**known, **more})
