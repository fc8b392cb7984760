"""How a result looks in a notebook: the reply with its spans, what was repaired, what was checked, the value.

Everything that came from a model is shown as text: it is escaped, never markup.
"""

from __future__ import annotations

import html
import pprint

from evonb.parsing.schema import ParseResult, ParseTrace, Span, ValidationResult, ValidationStatus

_SHOWN_CHARS = 6_000
_SHOWN_ROWS = 60
_STYLE = """
.evonb-parse{font:13px/1.45 system-ui,sans-serif;max-width:72em;color:inherit}
.evonb-parse h4{margin:.9em 0 .3em;font-size:12px;letter-spacing:.04em;text-transform:uppercase;opacity:.75}
.evonb-parse pre{margin:0;padding:.6em .8em;border:1px solid #8886;border-radius:6px;white-space:pre-wrap;
overflow-wrap:anywhere;max-height:24em;overflow:auto;background:none;color:inherit;font:12px/1.5 ui-monospace,monospace}
.evonb-parse mark{color:inherit;border-radius:3px;background:#8882}
.evonb-parse mark.data{background:#2e9e5b40;box-shadow:inset 0 -2px #2e9e5b}
.evonb-parse mark.reasoning{background:#8a63d230;box-shadow:inset 0 -2px #8a63d2}
.evonb-parse mark.token{background:#c9820030;box-shadow:inset 0 -2px #c98200}
.evonb-parse mark.prose,.evonb-parse mark.blank{background:none;opacity:.7}
.evonb-parse table{border-collapse:collapse;font:inherit;color:inherit;margin:0}
.evonb-parse td{padding:.15em .9em .15em 0;text-align:left;vertical-align:top;background:none;color:inherit}
.evonb-parse ul{margin:0;padding-left:1.2em}
.evonb-parse .ok{color:#1d874a;font-weight:600}.evonb-parse .bad{color:#d43f3f;font-weight:600}
.evonb-parse .warn{color:#a56c00;font-weight:600}.evonb-parse .off{opacity:.7}
"""
_SIGNS = {
    ValidationStatus.PASSED: "✓ passed",
    ValidationStatus.FAILED: "✗ failed",
    ValidationStatus.WARNING: "! warning",
    ValidationStatus.SKIPPED: "– skipped",
}
_CLASSES = {
    ValidationStatus.PASSED: "ok",
    ValidationStatus.FAILED: "bad",
    ValidationStatus.WARNING: "warn",
    ValidationStatus.SKIPPED: "off",
}


def mimebundle(result: ParseResult) -> dict[str, str]:
    """The result as text and as HTML. Sizes are bounded; half surrogates, which no front end takes, become `?`."""
    bundle = {"text/plain": to_text(result), "text/html": to_html(result)}
    return {kind: text.encode("utf-8", "replace").decode() for kind, text in bundle.items()}


def to_text(result: ParseResult) -> str:
    """The result in a few lines."""
    lines = [repr(result)]
    trace = result.trace
    if trace is not None:
        lines.append(f"{'parsed' if trace.success else 'not parsed cleanly'} · {_headline(trace)}")
        lines += [f"  repair:  {repair}" for repair in trace.repairs[:_SHOWN_ROWS]]
        lines += [f"  {_SIGNS[check.status]}: {_words(check)}" for check in trace.validations[:_SHOWN_ROWS]]
        lines += [f"  warning: {warning}" for warning in _other_warnings(trace)[:_SHOWN_ROWS]]
        lines += [f"  error:   {error}" for error in trace.errors[:_SHOWN_ROWS]]
    return "\n".join([*lines, _short(pprint.pformat(result.data, width=100, compact=True))])


def _other_warnings(trace: ParseTrace) -> list[str]:
    """The warnings that no check tells already."""
    checked = {check.message for check in trace.validations}
    return [text for text in dict.fromkeys(trace.warnings) if text not in checked]


def to_html(result: ParseResult) -> str:
    """The result as one block of HTML with its own style."""
    parts = [f"<style>{_STYLE}</style>"]
    trace = result.trace
    if trace is not None:
        verdict = '<span class="ok">parsed</span>' if trace.success else '<span class="bad">not parsed cleanly</span>'
        parts.append(f"<div>{verdict} · {html.escape(_headline(trace))}</div>")
        parts.append(_section("Reply", f"<pre>{_marked(result.raw or trace.raw_input, trace.spans)}</pre>"))
        parts.append(_table("Stages", [(html.escape(stage), finding) for stage, finding in trace.steps]))
        parts.append(_list("Repairs", trace.repairs))
        parts.append(_table("Checks", [(_sign(check), _words(check)) for check in trace.validations]))
        parts.append(_list("Warnings", _other_warnings(trace)))
        parts.append(_list("Errors", trace.errors))
    value = html.escape(_short(pprint.pformat(result.data, width=100, compact=True)))
    parts.append(_section("Value", f"<pre>{value}</pre>"))
    return f'<div class="evonb-parse">{"".join(parts)}</div>'


def _headline(trace: ParseTrace) -> str:
    parts = [trace.detected_format.value, trace.parse_mode.value, f"{trace.duration_ms:.1f} ms"]
    if trace.fix_applied.value != "none":
        parts.append(f"fixed by {trace.fix_applied.value}")
    if trace.retries:
        parts.append(f"{trace.retries} retries")
    return " · ".join(parts)


def _marked(text: str, spans: list[Span]) -> str:
    """The reply with each span marked; long spans keep their beginning and end."""
    shown = []
    limit = max(200, _SHOWN_CHARS // max(1, len(spans)))
    for span in spans[:_SHOWN_ROWS]:
        body = html.escape(_short(text[span.start : span.end], limit))
        label = html.escape(f"{span.kind} {span.format}".strip())
        shown.append(f'<mark class="{html.escape(span.kind)}" title="{label}">{body}</mark>')
    return "".join(shown) or html.escape(_short(text))


def _sign(check: ValidationResult) -> str:
    return f'<span class="{_CLASSES[check.status]}">{_SIGNS[check.status]}</span>'


def _words(check: ValidationResult) -> str:
    """What was checked and found; the field only where the message doesn't name it."""
    if not check.message or check.field is None or repr(check.field) in check.message:
        return check.message or check.field or ""
    return f"{check.field}: {check.message}"


def _table(title: str, rows: list[tuple[str, str]]) -> str:
    """Rows of a head, which is markup of ours, and a body, which is text of anybody's."""
    if not rows:
        return ""
    cells = "".join(
        f"<tr><td>{head}</td><td>{html.escape(_short(body, 400))}</td></tr>" for head, body in rows[:_SHOWN_ROWS]
    )
    return _section(title, f"<table>{cells}</table>{_more(len(rows))}")


def _list(title: str, items: list[str]) -> str:
    if not items:
        return ""
    shown = "".join(f"<li>{html.escape(_short(item, 400))}</li>" for item in items[:_SHOWN_ROWS])
    return _section(title, f"<ul>{shown}</ul>{_more(len(items))}")


def _more(count: int) -> str:
    return f"<div>and {count - _SHOWN_ROWS:,} more</div>" if count > _SHOWN_ROWS else ""


def _section(title: str, body: str) -> str:
    return f"<h4>{title}</h4>{body}"


def _short(text: str, limit: int = _SHOWN_CHARS) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]} … {len(text) - 2 * half:,} characters … {text[-half:]}"
