"""When a failed node is tried again."""

from __future__ import annotations

from dataclasses import dataclass

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


def as_policy(retry: RetryPolicy | int) -> RetryPolicy:
    """The policy that a `retry` argument means; a number is the number of executions."""
    return RetryPolicy(attempts=retry) if isinstance(retry, int) else retry
