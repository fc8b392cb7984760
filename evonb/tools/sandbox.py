"""A place to run code that isn't trusted: a Docker container, started by settings and thrown away afterwards.

How safe it is depends on the settings: `network="none"` keeps code off the network, `volumes` opens folders to it.
"""

from __future__ import annotations

import errno
import os
import textwrap
from collections.abc import Mapping
from typing import Any, Self

from evonb._optional import require
from evonb.logger import get_logger
from evonb.tools.errors import SandboxError
from evonb.tools.functions import FunctionTool
from evonb.typing import CodeExecDockerConfig
from evonb.typing.base import Model

__all__ = ["CodeSandbox", "ExecResult", "container_arguments"]

_log = get_logger(__name__)
_START = (
    "install and start Docker, or set DOCKER_HOST to an engine that runs; `docker version` must show a server. "
    "Tools that you trust need no sandbox"
)
_ALLOW = "let this user talk to Docker (on Linux: add them to the group `docker` and log in again), or set DOCKER_HOST"


class ExecResult(Model):
    """What a command in the sandbox did.

    Attributes:
        exit_code: 0 if it went well.
        output: What it wrote, both streams in their order.
    """

    exit_code: int
    output: str

    @property
    def success(self) -> bool:
        """Whether it went well."""
        return self.exit_code == 0


def container_arguments(config: CodeExecDockerConfig) -> dict[str, Any]:
    """The arguments of the Docker SDK's `containers.run` for these settings.

    Raises:
        SandboxError: `detach` is off: starting would wait for the end of a container that waits for commands.
    """
    if not config.detach:
        raise SandboxError(
            "detach is off, so starting the sandbox would never return",
            where=f"code sandbox '{config.name}'",
            fix="leave detach on; commands run in the container while it is in the background",
        )
    given = config.model_dump(exclude_none=True)
    # Without an open stdin the default entry point, a shell, ends at once where there is no terminal.
    return {**given, "stdin_open": True}


class CodeSandbox:
    """One container in which commands and Python code run. Also a context manager.

    Args:
        config: How the container is started; by default `CodeExecDockerConfig()`.
        client: A client of the Docker SDK; by default the one that the environment describes.
    """

    def __init__(self, config: CodeExecDockerConfig | None = None, *, client: Any = None) -> None:
        self.config = config or CodeExecDockerConfig()
        self._client = client
        self._owns_client = client is None
        self._container: Any = None

    def to_saved(self) -> dict[str, Any]:
        """What a saved graph holds of it: how the container is started.

        Raises:
            SandboxError: It was given a client of its own.
        """
        if not self._owns_client:
            raise SandboxError(
                "A sandbox with a client of its own can't be saved",
                where=f"code sandbox '{self.config.name}'",
                fix="leave client out and name the engine by DOCKER_HOST",
            )
        return {"config": self.config}

    @classmethod
    def from_saved(cls, fields: Mapping[str, Any]) -> Self:
        """A sandbox of such settings, not started."""
        return cls(**fields)

    @property
    def is_running(self) -> bool:
        """Whether it was started and not stopped since."""
        return self._container is not None

    def start(self) -> None:
        """Start the container; nothing happens if it runs. A missing image is fetched by the engine first.

        Raises:
            MissingDependency: The Docker SDK isn't installed.
            SandboxError: No engine answers, or it refuses; nothing is left behind.
        """
        if self._container is not None:
            return
        arguments = container_arguments(self.config)
        docker = require("docker", "to run code in a sandbox")
        client = self._connected(docker)
        try:
            self._container = client.containers.run(**arguments)
        except docker.errors.APIError as error:
            self._close_client()
            raise self._api_error(error) from error
        except Exception as error:
            self._close_client()
            raise self._refused(
                f"The container can't be started: {error}", "look into the engine's log", error
            ) from error

    def run_python(self, code: str, timeout_s: float | None = None) -> ExecResult:
        """Run Python code; common leading blanks are taken off first.

        Args:
            code: The code.
            timeout_s: Kill it after so many seconds; its exit code is 137 then. Needs `timeout` in the image.

        Raises:
            SandboxError: The sandbox isn't running, or the engine went away.
        """
        return self._run(["python3", "-c", textwrap.dedent(code).strip("\n")], timeout_s)

    def run_cmd(self, cmd: str, timeout_s: float | None = None) -> ExecResult:
        """Run a shell command; the arguments and errors are those of `run_python`."""
        return self._run(["/bin/sh", "-c", textwrap.dedent(cmd).strip("\n")], timeout_s)

    def stop(self) -> None:
        """Stop the container; with `auto_remove` the engine removes it then. Nothing happens if it isn't running."""
        container, self._container = self._container, None
        if container is None:
            return
        try:
            container.stop(timeout=1)
        except Exception as error:  # gone already, or the engine is: there is nothing left to stop
            _log.warning("Stopping code sandbox '%s' failed: %s", self.config.name, error)
        finally:
            self._close_client()

    def as_tool(self, *, name: str = "run_python", timeout_s: float | None = 60.0) -> FunctionTool:
        """`run_python` as a tool for models; the sandbox has to be running when it is called."""

        def run_python(code: str) -> dict[str, Any]:
            """Run Python code in a sandbox. Print what you want to see."""
            return self.run_python(code, timeout_s).model_dump()

        return FunctionTool(run_python, name=name, exclusive=True)

    def __enter__(self) -> CodeSandbox:
        self.start()
        return self

    def __exit__(self, *about: object) -> None:
        self.stop()

    def _run(self, command: list[str], timeout_s: float | None) -> ExecResult:
        if self._container is None:
            raise SandboxError(
                "The sandbox isn't running",
                where=f"code sandbox '{self.config.name}'",
                fix="call start(), or use it as `with CodeSandbox(...) as sandbox:`",
            )
        limited = command if timeout_s is None else ["timeout", "-s", "KILL", f"{timeout_s:g}", *command]
        try:
            ended = self._container.exec_run(limited, workdir=self.config.working_dir)
        except Exception as error:
            raise self._refused(
                f"The command can't be run: {error}", "start the sandbox again; its container may have ended", error
            ) from error
        return ExecResult(exit_code=ended.exit_code, output=(ended.output or b"").decode("utf-8", "replace"))

    def _connected(self, docker: Any) -> Any:
        try:
            if self._client is None:
                _check_socket()
                self._client = docker.from_env()
            self._client.ping()
        except Exception as error:
            self._close_client()
            reason = _reason(error)
            raise self._refused(
                f"No Docker engine answers at {_engine_address()}: {reason}",
                _ALLOW if reason == os.strerror(errno.EACCES) else _START,
                error,
            ) from error
        return self._client

    def _api_error(self, error: Any) -> SandboxError:
        said = error.explanation or str(error)
        if error.status_code == 409:
            return self._refused(
                f"There is a container '{self.config.name}' already",
                f"remove it (docker rm -f {self.config.name}), or choose another name in the config",
                error,
            )
        if error.status_code == 404:
            return self._refused(
                f"There is no image '{self.config.image}' here, and none could be fetched: {said}",
                "check the name, or fetch it with docker pull",
                error,
            )
        return self._refused(f"The engine refused to start the container: {said}", "mend the setting it names", error)

    def _refused(self, what: str, fix: str, cause: BaseException) -> SandboxError:
        made = SandboxError(what, where=f"code sandbox '{self.config.name}' (image {self.config.image})", fix=fix)
        made.__cause__ = cause
        return made

    def _close_client(self) -> None:
        if self._owns_client and self._client is not None:
            self._client.close()
            self._client = None


def _engine_address() -> str:
    return os.environ.get("DOCKER_HOST") or ("unix:///var/run/docker.sock" if os.name == "posix" else "its pipe")


def _check_socket() -> None:
    """Look before asking: where the socket isn't there at all, the SDK leaves one of its own open behind its error."""
    scheme, _, path = _engine_address().partition("://")
    if scheme == "unix" and not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


def _reason(error: BaseException) -> str:
    """The innermost reason: the SDK's own message wraps it in three layers of brackets."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    said = error.strerror if isinstance(error, OSError) else None
    return said or str(error).strip() or type(error).__name__
