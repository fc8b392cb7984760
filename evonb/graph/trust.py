"""What saved code may be run: a signature with a secret of this user, as Jupyter signs notebooks, and names.

Code in a file is code of whoever wrote the file. So each piece that `dumps` writes carries a signature, and only what
this user signed is run. An import name is code as well (`os:system`): unsigned ones are looked up only in modules of
the user's own that are imported already, and only for what these modules define.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import sys
import sysconfig
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from evonb.logger import get_logger

__all__ = ["is_signed", "signed", "users_module"]

_SIGNATURE = "signature"
_log = get_logger(__name__)


def signed(piece: dict[str, Any]) -> dict[str, Any]:
    """The piece with its signature."""
    return {**piece, _SIGNATURE: _mac(piece)}


def is_signed(piece: Mapping[str, Any]) -> bool:
    """Whether this user signed the piece, and it hasn't been changed since."""
    found = piece.get(_SIGNATURE)
    return isinstance(found, str) and hmac.compare_digest(found, _mac(piece))


def _mac(piece: Mapping[str, Any]) -> str:
    content = {key: value for key, value in piece.items() if key != _SIGNATURE}
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hmac.new(_secret(_folder()), text.encode(), hashlib.sha256).hexdigest()


def _folder() -> str:
    """Where evonb keeps data of this user; `EVONB_DATA_DIR` says otherwise."""
    own = os.environ.get("EVONB_DATA_DIR")
    if own:
        return own
    home = Path.home()
    if sys.platform == "win32":
        return str(Path(os.environ.get("APPDATA", home)) / "evonb")
    if sys.platform == "darwin":
        return str(home / "Library" / "Application Support" / "evonb")
    return str(Path(os.environ.get("XDG_DATA_HOME", home / ".local" / "share")) / "evonb")


@lru_cache(maxsize=8)
def _secret(folder: str) -> bytes:
    """The secret in this folder, made on first use; one for this process where the folder can't be written."""
    path = Path(folder) / "signing.key"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _make_key(path)
        key = path.read_bytes()
        if len(key) >= 32:
            return key
        raise OSError(f"{path} is damaged")
    except OSError as error:
        _log.warning("No signing key can be kept, so graphs saved now are trusted in this process only: %s", error)
        return secrets.token_bytes(32)


def _make_key(path: Path) -> None:
    """Write a new key unless there is one; of two processes at once, one writes and both read the same."""
    if path.exists():
        return
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(secrets.token_bytes(32))
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        if not path.exists():
            os.replace(draft, path)
            return
    os.unlink(draft)


def users_module(name: str) -> ModuleType | None:
    """A module of the user's own that is imported already: not Python's, not an installed package's, not ours."""
    module = sys.modules.get(name)
    root = name.partition(".")[0]
    if module is None or (root in sys.stdlib_module_names and root != "__main__") or root == "evonb":
        return None
    file = getattr(module, "__file__", None)
    return None if file is not None and _is_installed(file) else module


def _is_installed(file: str) -> bool:
    paths = sysconfig.get_paths()
    folders = {os.path.realpath(paths[key]) for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    real = os.path.realpath(file)
    return "site-packages" in real or any(real.startswith(folder + os.sep) for folder in folders)
