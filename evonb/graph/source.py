"""The source of one function, cut out exactly, and a function made of it again."""

from __future__ import annotations
import __future__

import ast
import inspect
import linecache
import textwrap
from collections.abc import Mapping
from types import CodeType
from typing import Any

from evonb.errors import GraphError

__all__ = ["function_from", "source_text"]

_POSTPONED = __future__.annotations.compiler_flag
_FACTORY = "__evonb_factory__"


def source_text(function: Any) -> str:
    """The text of a function without its decorators, or of a lambda alone.

    Raises:
        GraphError: Python doesn't know it, or several lambdas can't be told apart.
    """
    code: CodeType = function.__code__
    try:
        lines, first = inspect.getsourcelines(code)
    except (OSError, TypeError, IndexError) as error:
        raise GraphError(f"The source of {function.__qualname__!r} isn't known", fix="define it in a file") from error
    return _lambda_text(code, lines, first) if function.__name__ == "<lambda>" else _def_text(lines)


def _def_text(lines: list[str]) -> str:
    text = textwrap.dedent("".join(lines))
    tree = ast.parse(text)
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef)
    return "\n".join(text.splitlines()[definition.lineno - 1 : definition.end_lineno])


def _lambda_text(code: CodeType, lines: list[str], first: int) -> str:
    for text, offset in _parsable(code, lines, first):
        tree = ast.parse(text)
        fitting = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Lambda) and _span(node.body, offset) == _code_span(code)
        ]
        if len(fitting) == 1:
            return ast.get_source_segment(text, fitting[0]) or ""
    raise GraphError("The source of a lambda can't be told from its surroundings", fix="make it a function with a name")


def _parsable(code: CodeType, lines: list[str], first: int) -> Any:
    """Texts around the lambda that parse, with the lines before them: the whole file, else the statement alone."""
    whole = "".join(linecache.getlines(code.co_filename)) or "".join(lines)
    for text, offset in ((whole, 0), ("".join(lines), first - 1)):
        try:
            ast.parse(text)
        except SyntaxError:
            continue
        yield text, offset


def _without_defaults(tree: ast.Module) -> ast.Module:
    """The module of `function_from` with None for the defaults of its function, as far as they are there."""
    factory = tree.body[0]
    assert isinstance(factory, ast.FunctionDef)
    first = factory.body[0]
    made = first.value if isinstance(first, ast.Return) else first
    assert isinstance(made, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    arguments = made.args
    arguments.defaults = [ast.copy_location(ast.Constant(None), each) for each in arguments.defaults]
    arguments.kw_defaults = [
        None if each is None else ast.copy_location(ast.Constant(None), each) for each in arguments.kw_defaults
    ]
    return tree


def _span(node: ast.expr, offset: int) -> tuple[int, int, int, int]:
    end_line, end = node.end_lineno or node.lineno, node.end_col_offset or 0
    return (node.lineno + offset, node.col_offset, end_line + offset, end)


def _code_span(code: CodeType) -> tuple[int, int, int, int]:
    """Where the body of a lambda stands: the widest of its instructions' places."""
    places = [
        (line, column, end_line, end)
        for line, end_line, column, end in code.co_positions()
        if line and end_line and column is not None and end is not None and (column, end) != (0, 0)
    ]
    start = min((line, column) for line, column, _, _ in places)
    stop = max((end_line, end) for _, _, end_line, end in places)
    return (*start, *stop)


def function_from(text: str, name: str, free: Mapping[str, Any], names: dict[str, Any], filename: str) -> Any:
    """The function that a text defines.

    Args:
        text: From `source_text`.
        name: Its name.
        free: Values of the variables of enclosing functions.
        names: Its globals.
        filename: What tracebacks call the place.
    """
    is_lambda = name == "<lambda>"
    body = f"return ({text}\n)" if is_lambda else f"{text}\nreturn {name}"
    source = f"def {_FACTORY}({', '.join(free)}):\n{textwrap.indent(body, '    ')}\n"
    # Tracebacks and `inspect` find the text under this name.
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    place: dict[str, Any] = {}
    # Annotations stay text and defaults are set afterwards: the names in them needn't be there.
    tree = _without_defaults(ast.parse(source))
    exec(compile(tree, filename, "exec", flags=_POSTPONED, dont_inherit=True), names, place)
    function = place[_FACTORY](**free)
    function.__qualname__ = name
    return function
