"""Tool calls between the tags and tokens of model families: Hermes and Qwen, Llama, Mistral, DeepSeek, GLM, Kimi,
Anthropic's XML, the harmony channels, and calls written as Python."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from evonb.parsing.failure import Unreadable
from evonb.parsing.json_reader import read_json
from evonb.parsing.json_strings import skip_blank
from evonb.parsing.tool_shapes import Call, calls_in, make_call, refuse_cut

_JSON_TAG = re.compile(
    r"<(?:tool_call|function_call|tool_use|toolcall|tool)>|<\|(?:tool_call|tool_calls|python_tag|tool_call_start)\|>",
    re.IGNORECASE,
)
_FUNCTION = re.compile(r"<function(?:=|\s+name=)[\"']?([\w./:-]{1,200})[\"']?\s*>")
_SPACE = r"(?:\w{1,20}:|[|｜] ?DSML ?[|｜] ?)?"  # Anthropic's namespace, DeepSeek's since V3.2
_INVOKE = re.compile(rf"<{_SPACE}invoke\s+name=[\"']([\w./:-]{{1,200}})[\"']\s*(/?)>")
_PARAMETER = re.compile(rf"<{_SPACE}parameter(?:=|\s+name=)[\"']?([\w./:-]{{1,200}})[\"']?([^<>]*)>")
_PARAMETER_END = re.compile(rf"</{_SPACE}parameter>")
_BODY_END = re.compile(rf"</{_SPACE}(?:function|invoke)>")
_IS_TEXT = re.compile(r"\bstring=[\"'](true|false)[\"']")
_MISTRAL = re.compile(r"\[TOOL_CALLS\]\s*(?:([\w./:-]{1,200})\s*(?:\[CALL_ID\]\s*\w+\s*)?(?:\[ARGS\])?)?\s*(?=[\[{])")
_DEEPSEEK = re.compile(
    r"<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?\s*([\w./:-]{1,200})\s*(?:<｜tool▁sep｜>)?\s*(?:```json\s*)?(?=\{)"
)
_KIMI = re.compile(
    r"<\|tool_call_begin\|>\s*(?:functions\.)?([\w./-]{1,200})(?::\d+)?\s*<\|tool_call_argument_begin\|>\s*(?=[{\"]|<\|tool_call_end)"
)
_HARMONY = re.compile(
    r"(?:assistant|commentary|analysis)\s+to=(?:functions\.)?([\w./-]{1,200})[^<{]{0,60}(?:<\|(?:constrain|channel)\|>[^<{]{0,40}){0,2}<\|message\|>\s*(?=\{)"
)
_CALL_ID = re.compile(r"(?:call|chatcmpl-tool|toolu)[_-](?=\w*\d)\w{6,}\Z")
_CALLING = re.compile(r"\[?Calling tool:\s*([\w./:-]{1,200})\s*\(\s*(?=\{)")
_GLM = re.compile(r"\s*([\w./:-]{1,200})\s*(?=<arg_key>|</tool_call>)")
_GLM_PAIR = re.compile(r"\s*<arg_key>([^<]{1,200})</arg_key>\s*<arg_value>")
_PYTHON = re.compile(r"^\s*\[?\s*[A-Za-z_][\w.]{0,200}\s*\(")
_MAX_PYTHON = 20_000

_NAMED_JSON = (_MISTRAL, _DEEPSEEK, _KIMI, _HARMONY, _CALLING)


def tagged_calls(text: str) -> list[Call]:
    """All calls that stand between tags, in order; an empty list when there are no such tags.

    Raises:
        Unreadable: One of them must not be made.
    """
    readers: list[Callable[[str], Iterator[Call]]] = [_json_tags, _function_tags, _named_json]
    for reader in readers:
        found = list(reader(text))
        if found:
            return found
    return []


def _json_tags(text: str) -> Iterator[Call]:
    at = 0
    while tag := _JSON_TAG.search(text, at):
        at = tag.end()
        start = skip_blank(text, at)
        if text.startswith("```", start):
            start = skip_blank(text, text.find("\n", start) + 1)
        if text[start : start + 1] in ("{", "["):
            yield from _json_at(text, start)
            at = read_json(text, start).end
            while text[(more := skip_blank(text, at)) : more + 1] in (";", ",", "{") and more < len(text):
                start = more if text[more] == "{" else skip_blank(text, more + 1)
                if text[start : start + 1] != "{":
                    break
                yield from _json_at(text, start)
                at = read_json(text, start).end
        elif _GLM.match(text, at):
            call, at = _glm(text, at)
            yield call
        elif tag.group() == "<|python_tag|>":
            yield from python_calls(text[at:].partition("<|")[0])


def _json_at(text: str, start: int) -> list[Call]:
    read = read_json(text, start)
    refuse_cut(read)
    found = calls_in(read.value, marked=True)
    if not found:
        raise Unreadable("a tool call without a name")
    return found


def _function_tags(text: str) -> Iterator[Call]:
    at = 0
    while True:
        tag = min(
            (found for found in (_FUNCTION.search(text, at), _INVOKE.search(text, at)) if found),
            key=lambda found: found.start(),
            default=None,
        )
        if tag is None:
            return
        start = skip_blank(text, tag.end())
        if tag.re is _INVOKE and tag[2]:
            yield make_call(tag[1], {})
            at = tag.end()
        elif text[start : start + 1] == "{":
            read = read_json(text, start)
            if read.cut:
                raise Unreadable(f"the arguments of {tag[1]!r} were cut off")
            yield make_call(tag[1], read.value)
            at = read.end
        else:
            arguments, at = _parameters(text, tag.end(), tag[1])
            yield make_call(tag[1], arguments)


def _parameters(text: str, at: int, name: str) -> tuple[dict[str, Any], int]:
    arguments: dict[str, Any] = {}
    while True:
        tag = _PARAMETER.match(text, skip_blank(text, at))
        if tag is None:
            break
        end = _PARAMETER_END.search(text, tag.end())
        if end is None:
            raise Unreadable(f"the arguments of {name!r} were cut off")
        arguments[tag[1]] = _declared(tag, text[tag.end() : end.start()])
        at = end.end()
    closing = _BODY_END.match(text, skip_blank(text, at))
    if closing is None and skip_blank(text, at) >= len(text) and not arguments:
        raise Unreadable(f"the arguments of {name!r} were cut off")
    return arguments, closing.end() if closing else at


def _declared(tag: re.Match[str], text: str) -> Any:
    """The value of a parameter, by what its tag says about the type: text as it stands, or JSON."""
    said = _IS_TEXT.search(tag[2])
    if said is None:
        return _argument(text)
    if said[1] == "true":
        return text
    start = skip_blank(text, 0)
    try:
        read = read_json(f"[{text}]", 0)
    except Unreadable:
        return text
    one = isinstance(read.value, list) and len(read.value) == 1 and not (read.cut or read.guesses)
    return read.value[0] if one and start < len(text) else text


def _argument(text: str) -> Any:
    """Objects and arrays as values; anything else stays the text it is, since only the tool knows its type."""
    value = text.strip("\n") if "\n" in text.strip() else text.strip()
    if value.strip()[:1] in ("{", "["):
        try:
            read = read_json(value, skip_blank(value, 0))
        except Unreadable:
            return value
        if not read.cut and not read.guesses and skip_blank(value, read.end) >= len(value):
            return read.value
    return value


def _glm(text: str, at: int) -> tuple[Call, int]:
    head = _GLM.match(text, at)
    if head is None:
        raise Unreadable("a tool call without a name")
    arguments: dict[str, Any] = {}
    at = head.end()
    while pair := _GLM_PAIR.match(text, at):
        end = text.find("</arg_value>", pair.end())
        if end < 0:
            raise Unreadable(f"the arguments of {head[1]!r} were cut off")
        arguments[pair[1].strip()] = _argument(text[pair.end() : end])
        at = end + len("</arg_value>")
    if text.startswith("<arg_key>", skip_blank(text, at)):
        raise Unreadable(f"the arguments of {head[1]!r} were cut off")
    return make_call(head[1], arguments), at


def _named_json(text: str) -> Iterator[Call]:
    for pattern in _NAMED_JSON:
        at = 0
        while tag := pattern.search(text, at):
            if text[tag.end() : tag.end() + 1] not in ("{", "["):
                arguments, at = _kimi_text(text, tag.end(), tag[1])
                yield _named(tag[1], arguments)
                continue
            read = read_json(text, tag.end())
            at = read.end
            if tag[1]:
                if read.cut:
                    raise Unreadable(f"the arguments of {tag[1]!r} were cut off")
                yield _named(tag[1], read.value)
            else:
                refuse_cut(read)
                yield from calls_in(read.value, marked=True)


def _kimi_text(text: str, at: int, name: str) -> tuple[str, int]:
    """Arguments that came as a JSON text within a string, or not at all."""
    if text[at] != '"':
        return "", at
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text, at)
    except ValueError as error:
        raise Unreadable(f"the arguments of {name!r} were cut off") from error
    return str(value), end


def _named(name: str, arguments: Any) -> Call:
    """A call by its name; where an id stands in the name's place, the name is among the arguments."""
    if not _CALL_ID.match(name):
        return make_call(name, arguments)
    found = calls_in(arguments)
    if found:
        return found[0]
    if not isinstance(arguments, dict) or not isinstance(arguments.get("name"), str):
        raise Unreadable("a tool call without a name")
    return make_call(arguments["name"], {key: value for key, value in arguments.items() if key != "name"})


def python_calls(text: str) -> list[Call]:
    """Calls written as Python, `f(x=1)` or `[f(x=1), g()]`, when that is all the text says. Nothing is run.

    Raises:
        Unreadable: It is a call whose arguments aren't named literals.
    """
    source = text.strip().strip("`")
    if len(source) > _MAX_PYTHON or not _PYTHON.match(source) or not source.endswith((")", "]")):
        return []
    if source.count("(") + source.count("[") + source.count("{") > 500:
        return []
    try:
        body = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    nodes = body.elts if isinstance(body, ast.List) else [body]
    if len(nodes) == 1 and isinstance(nodes[0], ast.Call) and getattr(nodes[0].func, "id", "") == "print":
        nodes = nodes[0].args
    if not nodes or not all(isinstance(node, ast.Call) for node in nodes):
        return []
    return [_python_call(node) for node in nodes if isinstance(node, ast.Call)]


def _python_call(node: ast.Call) -> Call:
    name = ast.unparse(node.func).removesuffix(".call")
    if node.args or any(keyword.arg is None for keyword in node.keywords):
        raise Unreadable(f"the call of {name!r} has arguments without names")
    try:
        arguments = {str(keyword.arg): ast.literal_eval(_Words().visit(keyword.value)) for keyword in node.keywords}
    except (ValueError, TypeError, RecursionError) as error:
        raise Unreadable(f"the call of {name!r} has arguments that aren't literals") from error
    return make_call(name, arguments)


class _Words(ast.NodeTransformer):
    """JSON's words in Python's place."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        words: dict[str, bool | None] = {"true": True, "false": False, "null": None}
        return ast.Constant(words[node.id]) if node.id in words else node
