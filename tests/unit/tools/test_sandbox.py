"""The code sandbox: what is sent to an engine for each option, and what is said when there is none."""

from __future__ import annotations

import inspect
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

import docker
import pytest

from evonb.errors import MissingDependency
from evonb.tools import CodeSandbox, ExecResult, SandboxError, ToolRegistry
from evonb.typing import CodeExecDockerConfig


class Engine(ThreadingHTTPServer):
    """As much of Docker's HTTP interface as starting and stopping a container needs; keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.sent: list[tuple[str, str, Any]] = []
        self.refusal: tuple[int, str] | None = None

    def bodies(self, part: str) -> list[Any]:
        return [body for _, path, body in self.sent if part in path]


class Answer(BaseHTTPRequestHandler):
    server: Engine

    def do_GET(self) -> None:
        if self.path.endswith("/json"):
            self._answer(200, {"Id": "abc", "Name": "/box", "Image": "sha256:1", "Config": {}, "State": {}})
        else:
            self._answer(200, {"ApiVersion": "1.44", "MinAPIVersion": "1.24", "Version": "1"})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.sent.append(("POST", self.path, json.loads(body) if body else None))
        if "/containers/create" in self.path and self.server.refusal is not None:
            status, message = self.server.refusal
            self._answer(status, {"message": message})
        elif "/containers/create" in self.path:
            self._answer(201, {"Id": "abc", "Warnings": []})
        elif "/images/create" in self.path:
            self._answer(404, {"message": "pull access denied"})
        else:
            self._answer(204, None)

    def _answer(self, status: int, value: Any) -> None:
        text = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args: Any) -> None:
        return


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    with Engine() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{server.server_address[1]}")
        for name in ("DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH"):
            monkeypatch.delenv(name, raising=False)
        yield server
        server.shutdown()
        thread.join()


def created(engine: Engine, **options: Any) -> dict[str, Any]:
    """What the engine was asked to create."""
    CodeSandbox(CodeExecDockerConfig(**options)).start()
    [body] = engine.bodies("/containers/create")
    return dict(body)


# -- the mapping of every option, as the engine sees it -----------------------------------------------


def test_the_defaults_are_the_documented_ones(engine: Engine) -> None:
    body = created(engine)
    host = body["HostConfig"]
    assert (body["Image"], body["WorkingDir"], body["Tty"]) == ("python:3-slim", "/tmp", True)
    assert body["Entrypoint"] == ["/bin/sh"]
    assert body.get("Cmd") is None
    assert body["OpenStdin"] is True
    assert (host["AutoRemove"], host["Memory"], host["CpuQuota"]) == (True, 4096 * 2**20, 50000)
    assert host["NetworkMode"] == "host"
    assert not host.get("Binds")
    assert "name=evofabric_sandbox" in engine.sent[0][1]
    assert any("/containers/abc/start" in path for _, path, _ in engine.sent)


@pytest.mark.parametrize(
    ("option", "value", "path", "expected"),
    [
        ("image", "python:3.13", ["Image"], "python:3.13"),
        ("working_dir", "/srv", ["WorkingDir"], "/srv"),
        ("tty", False, ["Tty"], False),
        ("mem_limit", "64m", ["HostConfig", "Memory"], 64 * 2**20),
        ("cpu_quota", 1000, ["HostConfig", "CpuQuota"], 1000),
        ("entrypoint", "/bin/bash", ["Entrypoint"], ["/bin/bash"]),
        ("command", "sleep 9", ["Cmd"], ["sleep", "9"]),
        ("command", ["sleep", "9 9"], ["Cmd"], ["sleep", "9 9"]),
        ("network", "none", ["HostConfig", "NetworkMode"], "none"),
        ("volumes", {"/a": {"bind": "/b", "mode": "ro"}}, ["HostConfig", "Binds"], ["/a:/b:ro"]),
        ("volumes", ["/a:/b:rw"], ["HostConfig", "Binds"], ["/a:/b:rw"]),
    ],
)
def test_each_option_reaches_the_engine(
    engine: Engine, option: str, value: Any, path: list[str], expected: Any
) -> None:
    found: Any = created(engine, **{option: value})
    for part in path:
        found = found[part]
    assert found == expected


def test_a_container_can_be_kept_after_it_was_stopped(engine: Engine) -> None:
    assert not created(engine, auto_remove=False)["HostConfig"].get("AutoRemove")


def test_the_name_reaches_the_engine(engine: Engine) -> None:
    created(engine, name="my_box")
    assert "name=my_box" in engine.sent[0][1]


def test_no_option_is_without_a_test() -> None:
    tested = {"image", "auto_remove", "working_dir", "tty", "mem_limit", "cpu_quota", "entrypoint", "command"}
    assert set(CodeExecDockerConfig.model_fields) == tested | {"network", "volumes", "name", "detach"}


def test_a_sandbox_that_would_not_go_to_the_background_is_refused(engine: Engine) -> None:
    with pytest.raises(SandboxError, match="detach is off") as caught:
        CodeSandbox(CodeExecDockerConfig(detach=False, name="box")).start()
    assert "code sandbox 'box'" in caught.value.where
    assert engine.sent == []


# -- refusals ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["unix:///no/such/engine.sock", "tcp://127.0.0.1:1"])
def test_without_an_engine_it_says_plainly_what_is_missing(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", host)
    sandbox = CodeSandbox()
    with pytest.raises(SandboxError, match="No Docker engine answers at") as caught:
        sandbox.start()
    assert host in caught.value.what
    assert caught.value.what.endswith(("No such file or directory", "Connection refused"))
    assert "start Docker" in caught.value.fix
    assert "DOCKER_HOST" in caught.value.fix
    assert not sandbox.is_running


def test_an_engine_that_this_user_may_not_use_is_told_from_one_that_is_missing() -> None:
    def ping() -> None:
        try:
            raise PermissionError(13, "Permission denied")
        except PermissionError as error:
            raise docker.errors.DockerException("Error while fetching server API version") from error

    with pytest.raises(SandboxError, match="Permission denied") as caught:
        CodeSandbox(client=SimpleNamespace(ping=ping)).start()
    assert "group `docker`" in caught.value.fix


def test_without_the_sdk_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docker", None)
    with pytest.raises(MissingDependency, match="'docker' is needed to run code in a sandbox") as caught:
        CodeSandbox().start()
    assert caught.value.fix.startswith("pip install")


def test_a_taken_name_is_told_with_the_way_out(engine: Engine) -> None:
    engine.refusal = (409, "name in use")
    with pytest.raises(SandboxError, match="There is a container 'box' already") as caught:
        CodeSandbox(CodeExecDockerConfig(name="box")).start()
    assert "docker rm -f box" in caught.value.fix


def test_an_image_that_cannot_be_had_is_named(engine: Engine) -> None:
    engine.refusal = (404, "No such image: nothing:1")
    with pytest.raises(SandboxError, match="There is no image 'nothing:1'"):
        CodeSandbox(CodeExecDockerConfig(image="nothing:1")).start()


def test_what_the_engine_refuses_is_told_in_its_words(engine: Engine) -> None:
    engine.refusal = (400, "minimum memory limit allowed is 6MB")
    with pytest.raises(SandboxError, match="minimum memory limit allowed is 6MB"):
        CodeSandbox().start()


@pytest.mark.parametrize("run", [lambda box: box.run_python("1"), lambda box: box.run_cmd("ls")])
def test_a_sandbox_that_was_not_started_says_so(run: Any) -> None:
    with pytest.raises(SandboxError, match="isn't running") as caught:
        run(CodeSandbox())
    assert "start()" in caught.value.fix


# -- running and stopping ------------------------------------------------------------------------------


class Container:
    """Stands for a container: takes what the SDK's takes, and refuses what the SDK's would refuse."""

    def __init__(self) -> None:
        self.ran: list[tuple[Any, dict[str, Any]]] = []
        self.stopped = 0
        self.answer: Any = SimpleNamespace(exit_code=0, output=b"done\n")

    def exec_run(self, *args: Any, **options: Any) -> Any:
        inspect.signature(docker.models.containers.Container.exec_run).bind(self, *args, **options)
        self.ran.append((args[0], options))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def stop(self, **options: Any) -> None:
        self.stopped += 1


@pytest.fixture
def container() -> Container:
    return Container()


@pytest.fixture
def box(container: Container) -> CodeSandbox:
    client = SimpleNamespace(ping=lambda: True, containers=SimpleNamespace(run=lambda **options: container))
    sandbox = CodeSandbox(CodeExecDockerConfig(working_dir="/srv"), client=client)
    sandbox.start()
    return sandbox


def test_python_code_runs_in_the_working_folder_without_its_common_blanks(
    box: CodeSandbox, container: Container
) -> None:
    result = box.run_python("""
        for n in range(2):
            print(n)
    """)
    assert result == ExecResult(exit_code=0, output="done\n")
    assert result.success
    assert container.ran == [(["python3", "-c", "for n in range(2):\n    print(n)"], {"workdir": "/srv"})]


def test_shell_commands_run_in_a_shell(box: CodeSandbox, container: Container) -> None:
    container.answer = SimpleNamespace(exit_code=2, output=b"\xff no")
    result = box.run_cmd("ls | wc -l; exit 2")
    assert (result.exit_code, result.output, result.success) == (2, "\ufffd no", False)
    assert container.ran[0][0] == ["/bin/sh", "-c", "ls | wc -l; exit 2"]


def test_a_time_limit_is_enforced_inside_the_container(box: CodeSandbox, container: Container) -> None:
    box.run_python("while True: pass", timeout_s=1.5)
    assert container.ran[0][0][:5] == ["timeout", "-s", "KILL", "1.5", "python3"]


def test_a_container_that_is_gone_is_told(box: CodeSandbox, container: Container) -> None:
    container.answer = docker.errors.NotFound("no such container")
    with pytest.raises(SandboxError, match=r"can't be run.*no such container") as caught:
        box.run_cmd("ls")
    assert "start the sandbox again" in caught.value.fix


def test_a_block_starts_and_stops_the_container_once(engine: Engine) -> None:
    with CodeSandbox(CodeExecDockerConfig(name="box")) as sandbox:
        assert sandbox.is_running
        sandbox.start()
    assert not sandbox.is_running
    sandbox.stop()
    assert len(engine.bodies("/containers/create")) == 1
    assert [path for _, path, _ in engine.sent if "/stop" in path] == ["/v1.44/containers/abc/stop?t=1"]


def test_the_sandbox_is_a_tool_for_models(box: CodeSandbox, container: Container) -> None:
    calls = ToolRegistry([box.as_tool()])
    assert calls.function_schemas()[0]["function"]["parameters"]["required"] == ["code"]
    assert calls.invoke("run_python", {"code": "print(1)"}).output == {"exit_code": 0, "output": "done\n"}
    box.stop()
    assert "isn't running" in calls.invoke("run_python", {"code": "print(1)"}).to_model_text()
