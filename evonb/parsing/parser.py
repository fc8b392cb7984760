"""`OutputParser`: from the text of a reply to a checked value, with the trace of how it was found."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Self

from evonb.parsing.cache import ResultCache
from evonb.parsing.failure import ParseError, Unreadable
from evonb.parsing.fields import Checks
from evonb.parsing.fix import LlmFunction, OutputFixer, graceful_fallback
from evonb.parsing.interpret import Understood, Wanted, read_reply, settle
from evonb.parsing.limits import MAX_CACHED_CHARS, MAX_TEXT_CHARS
from evonb.parsing.prompts import format_instructions, semantic_prompt
from evonb.parsing.retry import RetryHandler
from evonb.parsing.schema import (
    FieldSchema,
    FixStrategy,
    OutputFormat,
    ParseMode,
    ParseResult,
    ParseTrace,
    Span,
    ValidationStatus,
)
from evonb.parsing.stream import ReplyStream
from evonb.parsing.validate import OutputValidator, ValidationRule

__all__ = ["OutputParser"]

_FAILED = ValidationStatus.FAILED


class OutputParser:
    """Parses replies of language models.

    Every stage writes to the trace of the result. A parser can be used from several threads, except for `feed`.

    Args:
        schema: A pydantic model, dataclass or other class to make of the data.
        fields: The fields that the data should have.
        mode: How much may be done to a reply; see `ParseMode`.
        expected_format: The format, when it is known.
        llm_fn: A model to ask when a reply can't be read; in SEMANTIC mode it is asked first.
        max_retries: How often it may be asked again.
        enable_safety: Warn about secrets, personal data and injected orders in the reply.
        enable_cache: Keep the latest results.
        original_prompt: What the model had been asked, for the retries.
        rules: Checks of your own.
        fallback: Give `graceful_fallback` instead of no data when nothing can be read (not in STRICT).
    """

    def __init__(
        self,
        schema: Any = None,
        fields: Sequence[FieldSchema] | None = None,
        mode: ParseMode = ParseMode.LENIENT,
        expected_format: OutputFormat | None = None,
        llm_fn: LlmFunction | None = None,
        max_retries: int = 2,
        enable_safety: bool = True,
        enable_cache: bool = True,
        original_prompt: str = "",
        *,
        rules: Sequence[ValidationRule] | None = None,
        fallback: bool = False,
    ) -> None:
        self.schema = schema
        self.fields = list(fields or ())
        self.mode = mode
        self.expected_format = expected_format
        self.llm_fn = llm_fn
        self.max_retries = max_retries
        self.original_prompt = original_prompt
        self.fallback = fallback
        self._rules = list(rules or ())
        self._enable_safety = enable_safety
        self._validator = OutputValidator(rules=rules, enable_safety=enable_safety)
        self._cache = ResultCache() if enable_cache else None
        self._stream: ReplyStream | None = None

    def to_saved(self) -> dict[str, Any]:
        """What a saved graph holds of it: its settings. Cached results and a half-read stream stay behind."""
        plain = ("schema", "fields", "mode", "expected_format", "llm_fn", "max_retries", "original_prompt", "fallback")
        return {
            **{name: getattr(self, name) for name in plain},
            "enable_safety": self._enable_safety,
            "enable_cache": self._cache is not None,
            "rules": self._rules,
        }

    @classmethod
    def from_saved(cls, fields: Mapping[str, Any]) -> Self:
        """A parser of such settings."""
        return cls(**fields)

    def parse(self, text: str | None, expected_format: OutputFormat | None = None) -> ParseResult:
        """Parse one reply.

        `data` is None when nothing could be read; `trace.success` is False then, and also when a check failed.

        Args:
            text: The reply.
            expected_format: The format of this reply, if another than the parser's.

        Raises:
            ParseError: Only in STRICT mode: nothing could be read without guessing, or a check failed.
        """
        return self._parse(text, self._wanted(expected_format))

    def parse_typed(self, text: str | None, schema: type, expected_format: OutputFormat | None = None) -> Any:
        """Parse one reply into an instance of `schema`.

        Raises:
            ParseError: It can't be read, or isn't such an instance; in every mode.
        """
        kind = self._wanted(expected_format).kind
        result = self._parse(text, Wanted(self.fields, schema, kind, self.mode is ParseMode.STRICT))
        try:
            if result.ok:
                return result.as_typed(schema)
            reason = "; ".join(result.trace.errors) if result.trace else ""
        except Exception as error:
            reason = str(error)
        raise ParseError(f"The reply isn't a {schema.__name__}: {reason}", result.trace, fix="look at error.trace")

    def get_format_instructions(self) -> str:
        """What to tell a model about the format that is expected here."""
        return format_instructions(self._wanted(None).kind, self.fields, self.schema)

    def clear_cache(self) -> None:
        """Forget all results."""
        if self._cache is not None:
            self._cache.clear()

    def feed(self, chunk: str) -> ParseResult:
        """Take the next piece of a streamed reply and give the best value so far.

        No model is asked and no rule checked. Call `finish` after the last piece.
        """
        if self._stream is None:
            self._stream = ReplyStream(self._wanted(None))
        return self._stream.feed(chunk)

    def finish(self) -> ParseResult:
        """End the streamed reply: the same result as `parse` of the whole. The next `feed` begins a new one."""
        text = self._stream.text if self._stream is not None else ""
        self._stream = None
        return self.parse(text)

    # -- the stages

    def _wanted(self, expected_format: OutputFormat | None) -> Wanted:
        kind = expected_format or self.expected_format
        if self.mode is ParseMode.TOOL_CALL:
            kind = OutputFormat.TOOL_CALL
        return Wanted(self.fields, self.schema, kind, self.mode is ParseMode.STRICT)

    def _parse(self, text: str | None, wanted: Wanted) -> ParseResult:
        key = (text, wanted.kind, self.mode, wanted.schema)
        cached = self._cache is not None and isinstance(text, str) and len(text) <= MAX_CACHED_CHARS
        if cached and self._cache is not None:
            found = self._cache.get(key)
            if found is not None:
                return found
        result = self._run(text, wanted)
        if cached and self._cache is not None and (result.ok or self.llm_fn is None):
            self._cache.put(key, result)
        return result

    def _run(self, text: str | None, wanted: Wanted) -> ParseResult:
        started = time.perf_counter()
        trace = ParseTrace(raw_input=text if isinstance(text, str) else "", parse_mode=self.mode)
        trace.detected_format = wanted.kind or OutputFormat.UNKNOWN
        data = self._read(text, wanted, trace)
        if data is not None:
            self._check(data, text or "", trace)
        failed = [check for check in trace.validations if check.status is _FAILED]
        trace.success = data is not None and not failed
        if not trace.spans and text:
            trace.spans = [Span(0, len(text), "prose" if text.strip() else "blank")]
        trace.duration_ms = (time.perf_counter() - started) * 1000
        if self.mode is ParseMode.STRICT and not trace.success:
            raise _strict_error(trace)
        if data is None and self.fallback and isinstance(text, str) and text.strip():
            data = graceful_fallback(text, self.original_prompt)
        return ParseResult(data, wanted.schema, trace, text or "")

    def _read(self, text: str | None, wanted: Wanted, trace: ParseTrace) -> Any:
        """The value, by the first stage that gets one; None when none does."""
        if not isinstance(text, str):
            trace.add_error("there is no text" if text is None else f"expected text, found {type(text).__name__}")
            return None
        if not text.strip():
            trace.add_error("the text is blank")
            return None
        if len(text) > MAX_TEXT_CHARS:
            trace.add_error(f"the text has {len(text):,} characters; at most {MAX_TEXT_CHARS:,} are read")
            return None
        if self.mode is ParseMode.SEMANTIC and self.llm_fn is not None:
            data = self._semantic(text, wanted, trace)
            if data is not None:
                return data
        try:
            return self._take(read_reply(text, wanted), wanted, trace)
        except Unreadable as error:
            trace.add_step("parse", f"failed: {error}")
            trace.detected_format = error.format or trace.detected_format
            return self._recover(text, wanted, trace, str(error))

    def _take(self, understood: Understood, wanted: Wanted, trace: ParseTrace) -> Any:
        """Write what was understood to the trace, and bring it to fields and schema."""
        reading = understood.reading
        trace.detected_format = wanted.kind or understood.format
        trace.spans = understood.spans
        trace.repairs += [*reading.repairs, *reading.guesses]
        trace.warnings += [*(f"guessed: {guess}" for guess in reading.guesses), *understood.remarks]
        gone = sum(span.end - span.start for span in understood.spans if span.kind in ("reasoning", "token"))
        if gone:
            trace.add_step("clean", f"set {gone} characters of reasoning and tokens aside")
        trace.add_step("detect", f"{understood.format.value}{', as was said' if wanted.kind else ''}")
        trace.add_step("parse", f"read {reading.format.value} from {reading.end - reading.start} characters")
        if trace.repairs and trace.fix_applied is FixStrategy.NONE:
            trace.fix_applied = FixStrategy.REGEX_REPAIR
        data, checks = settle(understood.value, wanted)
        trace.validations += checks
        trace.warnings += [check.message for check in checks if check.status is ValidationStatus.WARNING]
        if checks:
            trace.add_step(
                "fields", f"{sum(check.status is not _FAILED for check in checks)} of {len(checks)} in order"
            )
        return data

    def _check(self, data: Any, text: str, trace: ParseTrace) -> None:
        checks = self._validator.validate(data, text, trace)
        trace.warnings += [check.message for check in checks if check.status is ValidationStatus.WARNING]
        trace.add_step("check", f"{sum(check.status is _FAILED for check in trace.validations)} failed")

    # -- what else can be tried

    def _semantic(self, text: str, wanted: Wanted, trace: ParseTrace) -> Any:
        prompt = semantic_prompt(text, self.get_format_instructions(), self.original_prompt)
        try:
            understood = self._accept(str(self._ask(prompt)), wanted)
        except Exception as error:
            trace.add_warning(f"the model couldn't read the text, so it was parsed as it stands: {error}")
            trace.add_step("model", f"failed: {error}")
            return None
        trace.add_step("model", "read the text")
        trace.fix_applied = FixStrategy.LLM_REFORMAT
        return self._take(understood, wanted, trace)

    def _recover(self, text: str, wanted: Wanted, trace: ParseTrace, reason: str) -> Any:
        """Repair, then ask the model to rewrite, then ask it again. STRICT takes no local rewriting."""
        required = [field.name for field in self.fields if field.required]
        defaults = {field.name: field.default for field in self.fields if field.default is not None}
        strict = wanted.strict or wanted.kind is OutputFormat.TOOL_CALL
        fixer = OutputFixer(required, defaults, self.llm_fn if self.max_retries > 0 else None)
        kind = wanted.kind or OutputFormat.JSON
        fixed, strategy = fixer.fix_unreadable(text, kind, local=not strict)
        if fixer.last_error:
            trace.add_error(fixer.last_error)
        if strategy is not FixStrategy.NONE:
            try:
                understood = self._accept(fixed, wanted)
            except Unreadable as error:
                trace.add_step("fix", f"{strategy.value} didn't help: {error}")
            else:
                trace.fix_applied = strategy
                trace.add_step("fix", strategy.value)
                return self._taken_from_reply(understood, wanted, trace)
        if self.llm_fn is not None and self.max_retries > 0:
            data = self._retry(text, wanted, trace, reason)
            if data is not None:
                return data
        trace.add_error(reason)
        return None

    def _retry(self, text: str, wanted: Wanted, trace: ParseTrace, reason: str) -> Any:
        required = [field.name for field in self.fields if field.required]
        handler = RetryHandler(self._ask, self.max_retries, pydantic_schema=wanted.schema, required_fields=required)
        outcome = handler.run(
            self.original_prompt or text[:2_000],
            lambda reply: self._accept(reply, wanted),
            self.get_format_instructions(),
            reason,
            text,
        )
        trace.retries = outcome.attempts
        for error in outcome.errors:
            trace.add_error(f"retry: {error}")
        trace.add_step("retry", f"{outcome.attempts} asked, {'read' if outcome.success else 'nothing read'}")
        if not outcome.success:
            return None
        trace.fix_applied = FixStrategy.LLM_REFORMAT
        return self._taken_from_reply(outcome.result, wanted, trace)

    def _taken_from_reply(self, understood: Understood, wanted: Wanted, trace: ParseTrace) -> Any:
        data = self._take(understood, wanted, trace)
        trace.spans = []  # they are positions in the new text, not in the one that was given
        return data

    def _accept(self, reply: str, wanted: Wanted) -> Understood:
        """Read a model's own rewriting, which must be data and have the required fields."""
        understood = read_reply(
            reply, Wanted(self.fields, wanted.schema, wanted.kind or OutputFormat.JSON, wanted.strict)
        )
        failed = [check for check in settle(understood.value, wanted)[1] if check.status is _FAILED]
        if failed:
            raise Unreadable("; ".join(check.message for check in failed))
        return understood

    def _ask(self, prompt: str) -> str:
        if self.llm_fn is None:
            raise Unreadable("there is no model to ask")
        return self.llm_fn(prompt)


def _strict_error(trace: ParseTrace) -> ParseError:
    checks: Checks = [check for check in trace.validations if check.status is _FAILED]
    reasons = [check.message for check in checks] or trace.errors or ["nothing could be read"]
    return ParseError(
        f"The reply can't be parsed in STRICT mode: {'; '.join(reasons)}",
        trace,
        where=f"a reply of {len(trace.raw_input)} characters, read as {trace.detected_format.value}",
        fix="ask the model again with get_format_instructions(), or use ParseMode.LENIENT and look at the trace",
    )
