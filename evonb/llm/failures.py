"""What can go wrong with a model, each as a class of its own, with what / where / fix.

Every one is a `ModelError`; what had arrived before the failure is in `partial`. How a server's own errors are
recognised is in `explain`.
"""

from __future__ import annotations

from evonb.errors import EvonbError
from evonb.typing import LLMChatResponse

__all__ = [
    "EmptyReply",
    "ModelError",
    "ModelTimeout",
    "ModelUnreachable",
    "ReplyCutOff",
    "RequestRejected",
    "StreamBroken",
]


class ModelError(EvonbError, RuntimeError):
    """A model gave no usable answer.

    Attributes:
        partial: What had arrived, assembled as far as it goes; None when nothing had.
    """

    partial: LLMChatResponse | None = None

    def __init__(self, what: str, *, where: str = "", fix: str = "", partial: LLMChatResponse | None = None) -> None:
        super().__init__(what, where=where, fix=fix)
        self.partial = partial


class ModelUnreachable(ModelError, ConnectionError):
    """Nothing answers at the address, or what answers isn't a model server."""


class ModelTimeout(ModelError, TimeoutError):
    """The server took longer than `timeout_s`, at every attempt."""


class RequestRejected(ModelError):
    """The server answered with an error.

    Attributes:
        status: The HTTP status, or 0 when the error came inside a reply.
    """

    status: int = 0


class StreamBroken(ModelError):
    """A reply began and didn't come to its end; `partial` holds what had arrived."""


class ReplyCutOff(ModelError):
    """The reply ended at a limit of tokens; `partial` is the reply so far."""


class EmptyReply(ModelError):
    """The model ended its reply with neither text nor a tool call; `partial` has its reasoning and its metadata."""
