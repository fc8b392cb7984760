"""Which state keys a node's function can read, found in its bytecode, so that big values it can't see aren't copied.

The answer errs towards "everything". A function gets a smaller one only if each use of its state parameter is
`state["key"]`, `state.get("key")`, `"key" in state` or, for a model, `state.key`, with the key written out: then
the state is never stored, passed on, captured or looked at as a whole. Anything else (another use, a closure, a
generator, a call that looks at frames or local variables, a Python that this module wasn't tried on) means everything.
"""

from __future__ import annotations

import builtins
import inspect
import sys
from collections.abc import Callable, Collection
from functools import lru_cache
from types import CodeType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dis import Instruction

    from pydantic import BaseModel

__all__ = ["NO_READS", "Reads", "keys_read"]

_TRIED = ((3, 11), (3, 12), (3, 13))
_GENERATORS = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
_UNUSUAL = _GENERATORS | inspect.CO_COROUTINE | inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
# Calls by which a function gets at its own variables, and opcodes that touch variables without naming them.
_LOOKING_TEXT = (
    "locals vars eval exec dir globals breakpoint set_trace post_mortem _getframe _current_frames currentframe stack "
    "trace getinnerframes getouterframes f_locals f_back tb_frame gi_frame cr_frame ag_frame settrace setprofile "
    "get_objects get_referrers get_referents"
)
_LOOKING = frozenset(_LOOKING_TEXT.split(" "))
_HIDDEN = frozenset(("LOAD_LOCALS", "LOAD_NAME", "LOAD_FROM_DICT_OR_DEREF", "LOAD_FROM_DICT_OR_GLOBALS", "IMPORT_STAR"))
_SIMPLE = frozenset(("LOAD_CONST", "LOAD_FAST", "LOAD_GLOBAL"))


class Reads:
    """What one node can see of its state. Works nothing out before it is asked.

    Args:
        function: What is called with the state.
        model: The class of the state; None when states are dicts.
        fields: The names of the state keys.
    """

    __slots__ = ("_code", "_fields", "_function", "_keys", "_model")

    def __init__(self, function: Callable[..., Any], model: type[BaseModel] | None, fields: Collection[str]) -> None:
        self._function = function
        self._model = model
        self._fields = fields
        self._code: CodeType | None = None
        self._keys: frozenset[str] | None = None

    def sees(self, key: str) -> bool:
        """Whether the node could read this key, by whatever means."""
        if sys.gettrace() is not None or sys.getprofile() is not None:
            return True
        code, at = _code_of(self._function)
        if code is None:
            return True
        if code is not self._code:  # first asked, or the function was given other code
            self._keys = keys_read(code, at, attributes=self._attributes(), items=self._items())
            self._code = code
        return self._keys is None or key in self._keys

    def _attributes(self) -> frozenset[str]:
        """Names under which a model gives a field and nothing else."""
        model = self._model
        hooks = ("__getattribute__", "__getattr__")
        if model is None or any(hook in vars(base) for base in _own_bases(model) for hook in hooks):
            return frozenset()
        return frozenset(name for name in self._fields if not any(name in vars(base) for base in model.__mro__))

    def _items(self) -> bool:
        """Whether `state[key]` means the field `key`: for dicts, and for models that say so in the obvious way."""
        model = self._model
        if model is None:
            return True
        method = getattr(model, "__getitem__", None)
        return isinstance(method, FunctionType) and bool(self._attributes()) and _is_plain_getattr(method)


class _NoReads(Reads):
    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(lambda state: None, None, ())

    def sees(self, key: str) -> bool:
        """Whether the reader looks straight into storage: never."""
        return False


NO_READS: Reads = _NoReads()
"""Of a reader that looks at values through Python only, so that all of them may come late."""


def _own_bases(model: type) -> list[type]:
    return [base for base in model.__mro__ if base.__module__ not in ("builtins", "pydantic.main")]


def _plain_getitem(self: Any, key: str) -> Any:
    return getattr(self, key)


def _is_plain_getattr(method: FunctionType) -> bool:
    mine, plain = method.__code__, _plain_getitem.__code__
    same = all(getattr(mine, part) == getattr(plain, part) for part in ("co_code", "co_names", "co_argcount"))
    return (
        same
        and not mine.co_flags & _UNUSUAL
        and "getattr" not in method.__globals__
        and _builtins_of(method).get("getattr") is builtins.getattr
    )


def _builtins_of(function: Any) -> dict[str, Any]:
    found: dict[str, Any] = function.__builtins__
    return found


def _code_of(function: Any) -> tuple[CodeType | None, int]:
    """The code that runs, and the position of the state among its parameters."""
    at = 0
    if type(function) is MethodType:
        function, at = function.__func__, 1
    return (function.__code__, at) if type(function) is FunctionType else (None, 0)


@lru_cache(maxsize=512)
def keys_read(
    code: CodeType, at: int, *, attributes: frozenset[str] = frozenset(), items: bool = True
) -> frozenset[str] | None:
    """The keys that code can read from the state in its parameter number `at`; None for any.

    Args:
        code: Of a function or a coroutine function.
        at: Which parameter holds the state.
        attributes: Names that may be read as `state.name`.
        items: Whether `state["name"]` and, without `attributes`, `state.get("name")` read just that key.
    """
    if sys.version_info[:2] not in _TRIED or code.co_flags & _GENERATORS or at >= code.co_argcount:
        return None
    name = code.co_varnames[at]
    if name in code.co_cellvars or _LOOKING.intersection(code.co_names):
        return None
    from dis import get_instructions

    found: set[str] = set()
    steps = list(get_instructions(code))
    for index, step in enumerate(steps):
        if step.opname in _HIDDEN:
            return None
        if not _touches(step, name):
            continue
        if not _loads_last(step, name):
            return None
        key = _use(steps[index + 1 : index + 7], attributes, items=items)
        if key is None:
            return None
        found.add(key)
    return frozenset(found)


_NO_KEY = "\0"  # what a use is taken to read that reads none


def _touches(step: Instruction, name: str) -> bool:
    """Whether an instruction has to do with the variable; two in one come as a pair of names."""
    value = step.argval
    return "FAST" in step.opname and (value == name or (isinstance(value, tuple) and name in value))


def _loads_last(step: Instruction, name: str) -> bool:
    """Whether it puts the variable on top of the stack, and no more than that concerns it."""
    if step.opname == "LOAD_FAST":
        return True
    pair = step.argval if isinstance(step.argval, tuple) else ()
    return step.opname in ("LOAD_FAST_LOAD_FAST", "STORE_FAST_LOAD_FAST") and pair[0] != name == pair[1]


def _use(after: list[Instruction], attributes: frozenset[str], *, items: bool) -> str | None:
    """The key that is read by the instructions behind a load of the state; None if they do something else."""
    # Nothing may jump into the middle: another value could be on the stack then.
    names = [("" if step.is_jump_target else step.opname) for step in after]
    first = after[0] if after else None
    if first is None or not names[0]:
        return None
    if names[0] == "CONTAINS_OP":
        return _NO_KEY if items and not attributes else None
    if names[0] == "LOAD_ATTR" and attributes:
        is_method = sys.version_info >= (3, 12) and (first.arg or 0) & 1
        return first.argval if not is_method and first.argval in attributes else None
    if names[0] == "LOAD_CONST" and names[1:2] == ["BINARY_SUBSCR"]:
        key = first.argval
        known = items and isinstance(key, str) and (not attributes or key in attributes)
        return key if known else None
    if _is_get(first) and items and not attributes and _calls_at_once(names[1:], after[1:]):
        key = after[1].argval
        return key if isinstance(key, str) else None
    return None


def _is_get(step: Instruction) -> bool:
    is_method = bool((step.arg or 0) & 1) if sys.version_info >= (3, 12) else step.opname == "LOAD_METHOD"
    return is_method and step.opname in ("LOAD_METHOD", "LOAD_ATTR") and step.argval == "get"


def _calls_at_once(names: list[str], after: list[Instruction]) -> bool:
    """Whether `(constant)` or `(constant, something simple)` follows, and nothing that could change the key."""
    if names[:1] != ["LOAD_CONST"]:
        return False
    count = 1
    rest = list(zip(names[1:], after[1:], strict=True))
    if rest and (rest[0][0] in _SIMPLE or (rest[0][0] in ("BUILD_LIST", "BUILD_MAP") and rest[0][1].arg == 0)):
        count = 2
        rest = rest[1:]
    if rest and rest[0][0] == "PRECALL":
        rest = rest[1:]
    return bool(rest) and rest[0][0] == "CALL" and rest[0][1].arg == count
