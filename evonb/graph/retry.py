"""When a failed node is tried again."""

from __future__ import annotations

from dataclasses import dataclass

from evonb.errors import GraphError

__all__ = ["RetryPolicy", "as_policy"]


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When and how often a failed node is tried again, each time with a fresh copy of its state.

    Attributes:
        attempts: How many executions there may be in all.
        delay_s: Seconds before the second one.
        backoff: What the delay is multiplied with each further time.
        on: Exceptions that are worth another try.
    """

    attempts: int = 3
    delay_s: float = 0.0
    backoff: float = 2.0
    on: type[BaseException] | tuple[type[BaseException], ...] = Exception

    def __post_init__(self) -> None:
        for name in ("attempts", "delay_s", "backoff"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
                raise GraphError(
                    f"{name} is {value!r}, expected a number of at least 0",
                    where="RetryPolicy",
                    fix="RetryPolicy(attempts=3, delay_s=0.5)",
                )


def as_policy(retry: RetryPolicy | int) -> RetryPolicy:
    """The policy that a `retry` argument means; a number is the number of executions."""
    return RetryPolicy(attempts=retry) if isinstance(retry, int) else retry
