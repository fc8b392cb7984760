"""The line of `%%evograph NAME [options]`, read without ever exiting and without touching braces."""

from __future__ import annotations

import builtins
import difflib
import keyword
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from evonb.errors import MagicError

__all__ = ["OPTIONS", "USAGE", "Options", "near", "parse_options"]

USAGE = (
    "%%evograph NAME [--state CLASS] [--max-turn N] [--timeout SECONDS] [--mode run|debug] [--strict] [--no-show]"
    " [--break NODE ...]"
)


_TAKEN = ("START", "END", "node", "router", "edge", "Annotated", "TypedDict")


@dataclass(frozen=True, slots=True)
class Options:
    """What a cell's first line says.

    Attributes:
        name: The variable that will hold the graph.
        state: Name of the state class; None finds it in the cell.
        max_turn, timeout_s: Limits of the engine; None leaves its defaults.
        mode: "debug" builds a debugger; so does any node to stop before, unless the line says `--mode run`.
        strict: Unknown keys in deltas and inputs are errors.
        show: Show the picture below the cell.
        breaks: Nodes to stop before, for a debugger.
    """

    name: str
    state: str | None = None
    max_turn: int | None = None
    timeout_s: float | None = None
    mode: Literal["run", "debug"] = "run"
    strict: bool = False
    show: bool = True
    breaks: tuple[str, ...] = field(default=())


def parse_options(line: str) -> Options:
    """Read the line.

    Raises:
        MagicError: No name, an unknown option, or a value that doesn't fit; says which and offers near names.
    """
    words = _words(line)
    names = [word for word in words if not word.startswith("--")][:1]
    if not words or words[0].startswith("--") or not names:
        raise _error("The graph has no name", f"begin the cell with a name, as in: {USAGE}")
    options = Options(_checked_name(words[0]))
    rest = words[1:]
    while rest:
        options, rest = _take(options, rest)
    if options.breaks and not any(word.startswith("--mode") for word in words):
        return replace(options, mode="debug")
    return options


def near(word: str, known: list[str] | tuple[str, ...]) -> str:
    """The known word that was probably meant, as an imperative; else all of them."""
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.55)
    return f"did you mean {close[0]}?" if close else f"use one of: {', '.join(known)}"


def _take(options: Options, words: list[str]) -> tuple[Options, list[str]]:
    """Read one option and its value; returns the words that are left."""
    flag, equals, inline = words[0].partition("=")
    if not flag.startswith("--"):
        raise _error(f"{words[0]!r} is neither an option nor the graph's name", f"write it as in: {USAGE}")
    if flag in _FLAGS:
        return replace(options, **_FLAGS[flag]), words[1:]
    if flag not in _VALUES:
        raise _error(f"There is no option {flag}", near(flag, OPTIONS))
    if not equals and (len(words) < 2 or words[1].startswith("--")):
        raise _error(f"{flag} needs a value", f"write it as in: {USAGE}")
    value = inline if equals else words[1]
    return _VALUES[flag](options, value), words[1:] if equals else words[2:]


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError as error:
        raise _error(f"The line can't be read: {error}", "close the quote") from None


def _checked_name(name: str) -> str:
    if not name.isidentifier() or keyword.iskeyword(name):
        usable = "".join(letter if letter.isidentifier() or letter.isdigit() else "_" for letter in name)
        fix = usable if usable.isidentifier() and not keyword.iskeyword(usable) else f"graph_{usable}"
        raise _error(f"{name!r} can't be the name of a variable", f"call the graph {fix}")
    if name in _TAKEN or hasattr(builtins, name):
        whose = "a word of the cell's language" if name in _TAKEN else "a name of Python's own"
        raise _error(f"{name!r} is {whose}, which the graph would hide", f"call the graph {name.lower()}_graph")
    return name


def _number(flag: str, kind: Callable[[str], float], key: str) -> Callable[[Options, str], Options]:
    def read(options: Options, value: str) -> Options:
        try:
            number = kind(value)
        except ValueError:
            number = -1
        if not 0 < number < float("inf"):
            example = 20 if kind is int else 2.5
            raise _error(f"{flag} needs a positive number, not {value!r}", f"write for example: {flag} {example}")
        return replace(options, **cast(Any, {key: number}))

    return read


def _mode(options: Options, value: str) -> Options:
    if value not in ("run", "debug"):
        raise _error(f"There is no mode {value!r}", near(value, ["run", "debug"]))
    return replace(options, mode=cast(Literal["run", "debug"], value))


_FLAGS: dict[str, dict[str, Any]] = {"--strict": {"strict": True}, "--no-show": {"show": False}}
_VALUES: dict[str, Callable[[Options, str], Options]] = {
    "--state": lambda options, value: replace(options, state=value),
    "--max-turn": _number("--max-turn", int, "max_turn"),
    "--timeout": _number("--timeout", float, "timeout_s"),
    "--mode": _mode,
    "--break": lambda options, value: replace(options, breaks=(*options.breaks, value)),
}
OPTIONS = (*_VALUES, *_FLAGS)


def _error(what: str, fix: str) -> MagicError:
    return MagicError(what, where="first line of the cell", fix=fix)
