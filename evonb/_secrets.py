"""Which settings are secrets, and where one comes from that isn't written down: the environment.

Saved graphs hold no secret. What is one by its name or its looks is left out or refused here, for every layer alike.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from evonb.errors import EvonbError

__all__ = ["FromEnv", "check_address", "check_no_secrets", "is_secret", "without_secrets"]

_NAME = re.compile(
    r"(?:^|_)(?:\w*api_?key|access_?key|private_?key|key|auth|authorization|bearer|token|secret|pass|passwd|password|pw"
    r"|pwd|passphrase|pin|cookie|credentials?|session)(?:_id)?(?:$|_)"
)
_LOOKS = re.compile(
    r"\A(?:bearer |basic |token |sk-|pk-|rk-|gh[pousr]_|github_pat_|xox[abprs]-|akia|eyj|hf_|aiza)", re.I
)
_OPAQUE = re.compile(r"\A(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9+_=-]{24,}\Z")
_INNOCENT = {"max_tokens", "prompt_cache_key", "first_token_s"}


@dataclass(frozen=True, slots=True)
class FromEnv:
    """A secret that is read from an environment variable when it is needed; only its name is ever saved.

    Attributes:
        name: The variable.

    Example:
        ChatClient("large", base_url="https://models.example/v1", api_key=FromEnv("LAB_KEY"))
    """

    name: str

    def read(self, what: str, where: str, error: type[EvonbError] = EvonbError) -> str:
        """The value now.

        Args:
            what: What it is, for the error: "the API key".
            where: Whose it is.
            error: The class of the error.

        Raises:
            EvonbError: The variable isn't set.
        """
        value = os.environ.get(self.name)
        if value:
            return value
        raise error(
            f"{what[:1].upper()}{what[1:]} comes from the environment variable {self.name}, which isn't set",
            where=where,
            fix=f"set it before the first use: os.environ[{self.name!r}] = getpass.getpass()",
        )


def is_secret(name: str, value: Any = "") -> bool:
    """Whether a setting is a secret, by its name or by the looks of its value."""
    plain = re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower())
    if plain in _INNOCENT or isinstance(value, bool | int | float):
        return False
    return bool(_NAME.search(plain)) or (isinstance(value, str) and _looks_secret(value))


def without_secrets(settings: Mapping[str, Any], prefix: str, plain: frozenset[str] | None = None) -> dict[str, Any]:
    """The settings with `FromEnv` in place of each secret.

    Args:
        settings: Names and values, of HTTP headers or of a process environment.
        prefix: What the variables' names begin with; the setting's own name follows.
        plain: If given, everything but these names (in small letters) is taken for a secret.
    """
    made: dict[str, Any] = {}
    for name, value in settings.items():
        hidden = is_secret(name, value) if plain is None else name.lower() not in plain
        made[name] = FromEnv(f"{prefix}{_variable(name)}") if hidden and not isinstance(value, FromEnv) else value
    return made


def check_no_secrets(value: Any, place: str) -> None:
    """Refuse to save options that hold a secret.

    Raises:
        EvonbError: One does; it is named, its value isn't.
    """
    for name, _ in _secrets_in(value, place):
        raise EvonbError(
            f"{name} looks like a secret, and secrets aren't saved",
            fix="pass it as api_key or in headers, which are left out, or give it inside a function that is imported",
        )


def check_address(url: str, place: str) -> None:
    """Refuse to save an address with a password or key in it.

    Raises:
        EvonbError: It has one.
    """
    parts = urlsplit(url)
    query = parse_qsl(parts.query, keep_blank_values=True)
    if "@" in parts.netloc or any(is_secret(name, value) for name, value in query):
        raise EvonbError(
            f"{place} holds a password or key, and secrets aren't saved",
            fix="take it out of the address and pass it in headers, where FromEnv(...) can stand for it",
        )


def _secrets_in(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            if is_secret(str(name), item) and not isinstance(item, FromEnv | Mapping | list | tuple):
                yield f"{place}[{name!r}]", item
            yield from _secrets_in(item, f"{place}[{name!r}]")
    elif isinstance(value, list | tuple):
        for at, item in enumerate(value):
            yield from _secrets_in(item, f"{place}[{at}]")


def _looks_secret(value: str) -> bool:
    parts = urlsplit(value) if "://" in value else None
    return bool(_LOOKS.match(value) or _OPAQUE.match(value) or (parts is not None and "@" in parts.netloc))


def _variable(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_").upper()
