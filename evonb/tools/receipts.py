"""What a call leaves behind: the receipt, its error, and the progress reports. Data only, JSON round trip included."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, PlainSerializer, PrivateAttr

from evonb._unicode import encodable
from evonb.tools.errors import FieldFault as _FieldFault
from evonb.tools.errors import ToolCancelled, ToolError, ToolInputError
from evonb.tools.text import jsonable, to_text
from evonb.typing import ToolCallResult, ToolMessage
from evonb.typing.base import Model

__all__ = ["Effect", "Mode", "NodeReport", "ToolErrorInfo", "ToolReceipt", "ToolReport", "ToolStatus"]

Mode: TypeAlias = Literal["sync", "async"]
ToolStatus: TypeAlias = Literal[
    "completed", "not_found", "invalid_input", "failed", "invalid_output", "timed_out", "cancelled"
]
Effect: TypeAlias = Literal["none", "read", "write"]
"""What a tool does to the world: nothing, look at it, or change it. Only "write" must not be repeated silently."""

ErrorCategory: TypeAlias = Literal[
    "not_found", "arguments", "denied", "contract", "raised", "output", "timeout", "cancelled", "connection"
]
_Jsonable = Annotated[Any, PlainSerializer(jsonable, when_used="json")]


class NodeReport(Model):
    """Progress, as a tool tells it. The runtime adds who, which call and when.

    Attributes:
        message: What is going on, in a few words.
        current: How much is done, in the unit of `total`, or a share of 1 when there is no total.
        total: How much there is to do.
        data: Anything else worth showing.
    """

    message: str | None = None
    current: float | None = None
    total: float | None = None
    data: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def of(cls, update: NodeReport | str | Mapping[str, Any]) -> NodeReport:
        """A report out of a report, a message, or a mapping of the fields."""
        if isinstance(update, NodeReport):
            return update
        return cls(message=update) if isinstance(update, str) else cls.model_validate(dict(update))


class ToolReport(Model):
    """A progress report with what the runtime stamped on it; `seq` is that of its event."""

    invocation_id: str
    run_id: str | None = None
    node_name: str | None = None
    seq: int
    at: float
    report: NodeReport


class ToolErrorInfo(Model):
    """Why a call didn't complete.

    Attributes:
        category: The kind of trouble; finer than the receipt's status.
        message: What was found and what was expected.
        where: Tool and invocation.
        fix: Something to do.
        fields: The arguments or parts of the output that don't fit.
        expected: The arguments that the tool takes, in short, after bad ones.
        raw_preview: The start of the raw input.
        exception_type: The class of the exception that the tool raised.
        traceback: Its backtrace; for people, never part of the text for the model.
    """

    category: ErrorCategory
    message: str
    where: str = ""
    fix: str = ""
    fields: list[_FieldFault] = Field(default_factory=list)
    expected: str | None = None
    raw_preview: str | None = None
    exception_type: str | None = None
    traceback: str | None = None

    def to_text(self) -> str:
        """The error as text for a model or a person: what, each field, what was expected, the fix."""
        lines = [self.message, *(f"  - {fault}" for fault in self.fields)]
        lines += [f"  expected: {self.expected}"] if self.expected else []
        lines += [f"  fix: {self.fix}"] if self.fix else []
        return "\n".join(lines)


class ToolReceipt(Model):
    """How one call went. Every call has one, also when its tool doesn't exist, raises, hangs or is cancelled.

    Attributes:
        invocation_id: The runtime's id of the call; the same in every event.
        call_id: The model's id of the call, when a model made it.
        tool_id: The tool that was asked for.
        kind: The tool's kind; empty when there is no such tool.
        mode: How the registry accepted the tool; None when there is no such tool.
        effect: What the tool does to the world, as declared.
        status: How it ended.
        output: The checked output of a completed call, else None.
        error: Why it didn't complete, else None.
        started_at: Seconds since the epoch.
        duration_ms: From the start to the receipt.
        reports: The progress reports, in order.
        replayed: Whether this is an earlier call's recorded receipt; nothing ran.
    """

    invocation_id: str
    call_id: str | None = None
    tool_id: str
    kind: str = ""
    mode: Mode | None = None
    effect: Effect | None = None
    status: ToolStatus
    output: _Jsonable = None
    error: ToolErrorInfo | None = None
    started_at: float
    duration_ms: float
    reports: list[ToolReport] = Field(default_factory=list)
    replayed: bool = False
    _exception: BaseException | None = PrivateAttr(default=None)

    @property
    def ok(self) -> bool:
        """Whether the call completed."""
        return self.status == "completed"

    @property
    def exception(self) -> BaseException | None:
        """What the tool raised; lost when the receipt has been stored."""
        return self._exception

    def to_model_text(self, max_chars: int | None = None) -> str:
        """What the model is told; never empty, never a backtrace.

        Args:
            max_chars: Cut longer text here, and say so in it.
        """
        if self.error is not None:
            text = f"Error ({self.status}): {self.error.to_text()}"
        else:
            text = to_text(self.output) or f"Tool '{self.tool_id}' finished and returned nothing."
        text = encodable(text)
        if max_chars is None or len(text) <= max_chars:
            return text
        return f"{text[:max_chars]}\n[cut: {len(text)} characters in all, {max_chars} shown]"

    def to_result(self) -> ToolCallResult:
        """The receipt as the documented `ToolCallResult`."""
        return ToolCallResult(
            tool_call_id=self.call_id or self.invocation_id,
            success=self.ok,
            content=self.output if self.ok else self.to_model_text(),
            traceback=None if self.error is None else self.error.traceback or self.error.to_text(),
        )

    def to_message(self, max_chars: int | None = None) -> ToolMessage:
        """The message that answers the model's call."""
        return ToolMessage(content=self.to_model_text(max_chars), tool_call_id=self.call_id or self.invocation_id)

    def unwrap(self) -> Any:
        """The output of a completed call.

        Raises:
            ToolInputError: The arguments were refused.
            ToolCancelled: The call was cancelled.
            ToolError: It ended in another way; what the tool raised is the `__cause__`.
        """
        if self.error is None:
            return self.output
        info = self.error
        if self.status == "invalid_input":
            raise ToolInputError(info.message, where=info.where, fix=info.fix, faults=info.fields) from self._exception
        cls = ToolCancelled if self.status == "cancelled" else ToolError
        raise cls(info.message, where=info.where, fix=info.fix) from self._exception
