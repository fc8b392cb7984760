"""The live picture as a test sees it: nodes, edges, panels by their meaning. The only place that knows selectors."""

from __future__ import annotations

import json
import re
from pathlib import Path

from harness import Notebook
from playwright.sync_api import Locator, expect

SETUP = "%load_ext evonb\nfrom typing import Annotated, TypedDict\nfrom evonb.graph import END, START, node, router\n"

_WATCH = """(root) => {
  const seen = root.evonbSeen = {};
  const note = element => {
    const id = element.dataset?.node ?? element.dataset?.edge;
    if (id === undefined) return;
    const classes = seen[id] ??= [];
    for (const name of element.classList) if (!classes.includes(name)) classes.push(name);
  };
  root.querySelectorAll('[data-node], [data-edge]').forEach(note);
  new MutationObserver(changes => changes.forEach(change => note(change.target)))
    .observe(root, {subtree: true, attributes: true, attributeFilter: ['class']});
}"""


class Picture:
    """The picture in the output of one cell, or, without `cell`, the first in the notebook."""

    def __init__(self, notebook: Notebook, cell: int | None = None) -> None:
        scope = notebook.page.locator(".jp-Notebook") if cell is None else notebook.cell(cell)
        self.page = notebook.page
        self.root = scope.locator(".evo-live").first
        self.root.wait_for()

    def node(self, name: str) -> Locator:
        return self.root.locator(f"[data-node={json.dumps(name, ensure_ascii=False)}]")

    def edge(self, edge_id: str) -> Locator:
        return self.root.locator(f"[data-edge={json.dumps(edge_id)}]")

    def expect_node(self, name: str, status: str) -> None:
        expect(self.node(name)).to_have_class(_word(status), timeout=15_000)

    def expect_nodes(self, **statuses: str) -> None:
        for name, status in statuses.items():
            self.expect_node(name, status)

    def expect_edge(self, edge_id: str, look: str) -> None:
        expect(self.edge(edge_id)).to_have_class(_word(look), timeout=15_000)

    def expect_chip(self, word: str) -> None:
        expect(self.root.locator(".chip").first).to_have_text(word, timeout=15_000)

    def expect_text(self, text: str) -> None:
        """Somewhere in the view, and to be seen."""
        expect(self.root.get_by_text(text).first).to_be_visible(timeout=15_000)

    def place(self, name: str) -> tuple[float, float]:
        """Where a node stands in the picture's own coordinates."""
        transform = self.node(name).get_attribute("transform") or ""
        x, y = re.findall(r"-?[\d.]+", transform)[:2]
        return float(x), float(y)

    def node_height(self, name: str) -> float:
        """In the picture's own coordinates."""
        return float(self.node(name).locator(".box").get_attribute("height") or 0)

    def watch(self) -> None:
        """Note from now on every class that a node or an edge has, however short."""
        self.root.evaluate(_WATCH)

    def seen(self) -> dict[str, list[str]]:
        """What `watch` has noted: classes by node or edge id."""
        seen: dict[str, list[str]] = self.root.evaluate("root => root.evonbSeen")
        return seen

    def screenshot(self, path: Path, *, calm: bool = True) -> None:
        """Keep a picture to look at; a `calm` one waits until no pulse moves."""
        if calm:
            expect(self.root.locator(".comet")).to_have_count(0)
        self.root.screenshot(path=path)


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(^|\s){re.escape(name)}(\s|$)")
