"""A real JupyterLab on the loopback interface, driven with headless Chromium.

One server and one browser serve a whole test session; every test opens a notebook of its own. Nothing may leave the
loopback interface: what tries is aborted and listed in `Pages.blocked`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import psutil
from playwright.sync_api import BrowserContext, Locator, Page, Route, sync_playwright

CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# Settings that keep dialogs, news and saving out of a test.
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    "@jupyterlab/extensionmanager-extension:plugin": {"enabled": False},
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
}


def chromium() -> str:
    """The browser to use; `scripts/need.sh chromium` installs one where there is none."""
    names = [os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
    for name in filter(None, names):
        if path := shutil.which(name):
            return path
    raise RuntimeError("No Chromium was found.\n  fix:   make browser, which installs one, or set CHROMIUM")


@dataclass
class LabServer:
    """A running JupyterLab."""

    url: str
    token: str
    root: Path
    process: psutil.Popen
    log: list[str] = field(default_factory=list)

    def api(self, path: str, method: str = "GET", body: Any = None) -> Any:
        request = urllib.request.Request(
            f"{self.url}/api/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=20) as response:
            raw = response.read()
        return json.loads(raw) if raw else None

    def end_kernels(self, notebook: str | None = None) -> None:
        """End the kernel of one notebook, or all of them."""
        for session in self.api("sessions"):
            if notebook in (None, session["path"]):
                self.api(f"sessions/{session['id']}", "DELETE")


@contextlib.contextmanager
def lab_server(root: Path, kernels: dict[str, str] | None = None) -> Iterator[LabServer]:
    """Start JupyterLab in `root` with settings of its own; nothing is read from or written to the user's home.

    Args:
        root: The folder that Lab shows.
        kernels: Further kernels, by name: the Python program that has an ipykernel.

    Raises:
        AssertionError: At the end: the server or a kernel didn't go.
    """
    port, token = _free_port(), secrets.token_hex(16)
    home = Path(tempfile.mkdtemp(prefix="evonb-lab-"))
    _write_settings(home / "settings")
    for name, python in (kernels or {}).items():
        _write_kernel(home / "data" / "kernels" / name, name, python)
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        *("--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
        *(f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={root}"),
        *("--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"),
        *("--LabApp.extension_manager=readonly", "--LabApp.expose_app_in_browser=True"),
    ]
    process = psutil.Popen(
        command, env=_environment(home), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    server = LabServer(f"http://127.0.0.1:{port}", token, root, process)
    ready = threading.Event()
    reader = threading.Thread(target=_follow, args=(server, ready), daemon=True)
    reader.start()
    try:
        if not ready.wait(90) or process.poll() is not None:
            raise RuntimeError("JupyterLab did not start:\n" + "".join(server.log[-40:]))
        yield server
        server.end_kernels()
    finally:
        left = _end(process)
        reader.join(10)
        process.stdout.close()
        shutil.rmtree(home, ignore_errors=True)
    assert not left, f"processes outlived the server: {left}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _write_settings(folder: Path) -> None:
    for plugin, values in SETTINGS.items():
        extension, name = plugin.split(":")
        path = folder / extension / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))


def _write_kernel(folder: Path, name: str, python: str) -> None:
    folder.mkdir(parents=True)
    spec = {
        "argv": [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": name,
        "language": "python",
    }
    (folder / "kernel.json").write_text(json.dumps(spec))


def _environment(home: Path) -> dict[str, str]:
    return dict(
        os.environ,
        JUPYTER_CONFIG_DIR=str(home / "config"),
        JUPYTER_DATA_DIR=str(home / "data"),
        JUPYTER_RUNTIME_DIR=str(home / "runtime"),
        IPYTHONDIR=str(home / "ipython"),
        JUPYTERLAB_SETTINGS_DIR=str(home / "settings"),
        JUPYTERLAB_WORKSPACES_DIR=str(home / "workspaces"),
        PYTHONUNBUFFERED="1",
    )


def _follow(server: LabServer, ready: threading.Event) -> None:
    """Keep the log; ready once the server says where it runs, or ended."""
    assert server.process.stdout is not None
    for line in server.process.stdout:
        server.log.append(line)
        if "is running at" in line:
            ready.set()
    ready.set()


def _end(process: psutil.Popen) -> list[psutil.Process]:
    """Ask the server to go, wait, and use force on what stays; returns what had to be forced."""
    with contextlib.suppress(psutil.NoSuchProcess):
        family = [*process.children(recursive=True), process]
        process.terminate()
        _, left = psutil.wait_procs(family, timeout=20)
        for one in left:
            one.kill()
        return list(left)
    return []


@dataclass
class Browser:
    """A browser whose pages may talk to this machine only."""

    context: BrowserContext
    blocked: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def new_page(self) -> Page:
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", self._dismiss)
        return page

    def _dismiss(self, dialog: Any) -> None:
        # Leaving a notebook that wasn't saved asks; a page script that calls alert() is a finding.
        if dialog.type != "beforeunload":
            self.dialogs.append(dialog.message)
        dialog.accept()

    def _gate(self, route: Route) -> None:
        if route.request.url.startswith(("http://127.0.0.1", "file:", "data:", "blob:")):
            route.continue_()
        else:
            self.blocked.append(route.request.url)
            route.abort()


@contextlib.contextmanager
def browser(width: int = 1280, height: int = 1000) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=chromium(), headless=True, args=CHROMIUM_ARGS)
        made = Browser(chrome.new_context(viewport={"width": width, "height": height}))
        made.context.route("**/*", made._gate)
        try:
            yield made
        finally:
            chrome.close()


_OPEN = """() => { const panel = window.jupyterapp?.shell?.currentWidget;
  return panel?.sessionContext?.session?.kernel?.status === 'idle' && panel.content?.widgets?.length > 0; }"""
_CELL_DONE = """(index) => { const model = window.jupyterapp.shell.currentWidget.content.widgets[index].model;
  return model.executionCount !== null && model.executionState !== 'running'; }"""
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_EXECUTE = """const future = kernel.requestExecute({code: arg.code, store_history: false, allow_stdin: false});
  let out = '';
  future.onIOPub = message => { const content = message.content;
    if (message.header.msg_type === 'stream') out += content.text;
    if (message.header.msg_type === 'execute_result') out += content.data['text/plain'];
    if (message.header.msg_type === 'error') out += content.ename + ': ' + content.evalue; };
  const late = new Promise((_, fail) => setTimeout(() => fail(new Error('no answer from the kernel')), arg.ms));
  await Promise.race([future.done, late]); return out;"""


class Notebook:
    """One notebook, open in JupyterLab."""

    def __init__(self, page: Page, server: LabServer, path: str) -> None:
        self.page, self.server, self.path = page, server, path

    def open(self) -> None:
        """Open or reload the notebook; attaches to the kernel that it has, or starts one."""
        self.page.goto(f"{self.server.url}/lab/workspaces/t/tree/{self.path}?token={self.server.token}&reset")
        self.page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=60_000)
        self.page.wait_for_function(_OPEN, timeout=60_000)

    def js(self, body: str, arg: Any = None) -> Any:
        """Run JavaScript with `app`, `panel`, `kernel` and `arg` at hand."""
        return self.page.evaluate(
            "async (arg) => { const app = window.jupyterapp, panel = app.shell.currentWidget,"
            " kernel = panel.sessionContext.session?.kernel; " + body + " }",
            arg,
        )

    def cell(self, index: int) -> Locator:
        return self.page.locator(f".jp-Notebook .jp-Cell[data-windowed-list-index='{index}']")

    def start(self, index: int) -> None:
        """Run a cell and return at once."""
        self.js(
            "panel.content.activeCellIndex = arg; panel.content.deselectAll();"
            "app.commands.execute('notebook:run-cell'); return null;",
            index,
        )

    def run(self, index: int, *, fails: bool = False, timeout_s: float = 60) -> None:
        """Run a cell and wait until it's done; it must end without an error, or with one if it `fails`."""
        self.js("panel.content.widgets[arg].model.executionCount = null; return null;", index)
        self.start(index)
        self.page.wait_for_function(_CELL_DONE, arg=index, timeout=timeout_s * 1000)
        errors = ["\n".join(out["traceback"]) for out in self.outputs(index) if out["output_type"] == "error"]
        assert bool(errors) == fails, f"cell {index}: {_ANSI.sub('', errors[0]) if errors else 'no error'}"

    def is_done(self, index: int) -> bool:
        return bool(self.page.evaluate(_CELL_DONE, index))

    def set_source(self, index: int, source: str) -> None:
        self.js(
            "panel.content.widgets[arg.index].model.sharedModel.setSource(arg.source); return null;",
            {"index": index, "source": source},
        )

    def outputs(self, index: int) -> list[dict[str, Any]]:
        return list(self.js("return panel.content.widgets[arg].model.outputs.toJSON();", index))

    def set_theme(self, name: Literal["JupyterLab Light", "JupyterLab Dark"]) -> None:
        self.js("await app.commands.execute('apputils:change-theme', {theme: arg}); return null;", name)
        self.page.wait_for_selector(f"body[data-jp-theme-name='{name}']", state="attached")
        self.page.wait_for_selector("#jupyterlab-splash", state="detached")  # covers the page while a theme loads

    def save(self) -> Path:
        self.js("await panel.context.save(); return null;")
        return self.server.root / self.path

    def ask(self, code: str, timeout_s: float = 20) -> str:
        """Run code in the notebook's kernel, outside any cell; returns what it printed, gave or raised."""
        return str(self.js(_EXECUTE, {"code": code, "ms": timeout_s * 1000}))

    def until(self, code: str, answer: str, timeout_s: float = 15) -> None:
        """Ask the kernel until it answers so."""
        deadline = time.monotonic() + timeout_s
        while (found := self.ask(code)) != answer and time.monotonic() < deadline:
            pass
        assert found == answer
