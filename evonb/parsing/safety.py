"""Looks for what a reply shouldn't hold: secrets, personal data, injected orders, and admissions of not knowing.

Findings are remarks, not verdicts: an address in an answer is no failed parse.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from evonb.parsing.schema import ValidationResult, ValidationStatus

_SCANNED_CHARS = 200_000
_CARD = re.compile(r"\d[\d -]{11,22}\d")


@dataclass(frozen=True)
class _Finding:
    """A pattern, and words without which it can't match: they are looked for first, which is far cheaper."""

    name: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]


def _finding(name: str, hints: str, pattern: str) -> _Finding:
    return _Finding(name, tuple(hints.split("|")), re.compile(pattern))


# All of them see the text in lower case.
_FINDINGS = (
    _finding("an e-mail address", "@", r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}"),
    _finding("a social security number", "-", r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])"),
    _finding("a password", "password|passwd", r"\bpassw(?:or)?d\b[\"']?\s{0,3}[:=]\s{0,3}\S{4,}"),
    _finding("a bearer token", "bearer", r"\bbearer\s{1,3}[\w.~+/-]{16,}"),
    _finding(
        "an injected order",
        "ignore|disregard|forget|reveal",
        r"\b(?:ignore|disregard|forget) (?:all )?(?:the |your |any )?(?:previous|prior|above|earlier)"
        r" (?:instructions|prompts?|rules)|\breveal (?:your|the) system prompt",
    ),
)
_ADMISSION = _finding(
    "an admission",
    "as an ai|i do not|i don't|i cannot|i can't|i am|i'm",
    r"\bas an ai\b|\bi (?:do not|don't|cannot|can't) (?:know|help|answer|provide|access)\b"
    r"|\bi(?:'m| am) (?:not sure|unable)\b",
)


def safety_checks(text: str) -> list[ValidationResult]:
    """One WARNING for each kind of finding in the first 200,000 characters. The finding itself isn't repeated."""
    lowered = text[:_SCANNED_CHARS].lower()
    found = [finding.name for finding in _FINDINGS if _has(finding, lowered)]
    if any(_is_card(match.group()) for match in _CARD.finditer(lowered)):
        found.append("a card number")
    checks = [ValidationResult(ValidationStatus.WARNING, message=f"the reply seems to hold {name}") for name in found]
    if _has(_ADMISSION, lowered):
        checks.append(ValidationResult(ValidationStatus.WARNING, message="the reply admits that it doesn't know"))
    return checks


def _has(finding: _Finding, lowered: str) -> bool:
    return any(hint in lowered for hint in finding.hints) and finding.pattern.search(lowered) is not None


def _is_card(text: str) -> bool:
    """Whether the digits satisfy the check sum of card numbers."""
    digits = [int(char) for char in text if char.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    doubled = [digit * 2 for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(digit - 9 if digit > 9 else digit for digit in doubled)) % 10 == 0
