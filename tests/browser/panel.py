"""The panel of a debugger as a test sees it: tools, bar, tabs, keys. It and `picture` alone know selectors."""

from __future__ import annotations

import re

from harness import Notebook
from picture import Picture
from playwright.sync_api import Locator, expect

WAIT_MS = 15_000
_IS_TIED = """([root, node]) => {
  const parts = [".leader.failed", `[data-node="${CSS.escape(node)}"] .box`, ".stage .callout.failed", ".failure"];
  const [line, box, callout, card] = parts.map((part) => root.querySelector(part)?.getBoundingClientRect());
  const told = callout ?? card;
  if (!line || !box || !told) return false;
  return Math.abs(line.left - box.right) < 20 && Math.abs(line.right - told.left) < 10;
}"""


class Panel(Picture):
    """The panel in the output of one cell."""

    def __init__(self, notebook: Notebook, cell: int | None = None) -> None:
        super().__init__(notebook, cell)
        expect(self.root).to_have_class(re.compile("debugger"))

    def tool(self, name: str) -> Locator:
        return self.root.locator(f"[data-tool={name}]")

    def press(self, name: str) -> None:
        """Press a button of the toolbar; it must be allowed."""
        expect(self.tool(name)).not_to_have_attribute("aria-disabled", "true", timeout=WAIT_MS)
        self.tool(name).click()

    def expect_tied(self, node: str) -> None:
        """A line leads from a failed node to what says so: a callout in the margin, else the card in the inspector."""
        # A level line has no area, so it doesn't count as visible.
        expect(self.root.locator("g:not([style*=none]) > .leader.failed")).to_have_attribute("d", re.compile("^M"))
        # The picture may still be moving when the line is first drawn.
        self.page.wait_for_function(_IS_TIED, arg=[self.root.element_handle(), node], timeout=WAIT_MS)

    def key(self, key: str) -> None:
        """Press a key while the panel has the focus."""
        self.root.evaluate("root => root.contains(document.activeElement) || root.querySelector('button').focus()")
        self.page.keyboard.press(key)

    def tab(self, name: str) -> Locator:
        """Open a tab; its content."""
        self.root.get_by_role("tab", name=re.compile(f"^{name}")).click()
        return self.root.get_by_role("tabpanel")

    def expect_status(self, word: str) -> None:
        expect(self.root.locator(".tools .chip")).to_have_text(re.compile(word), timeout=WAIT_MS)

    def click_gutter(self, node: str) -> None:
        """Click the left border of a node."""
        self.node(node).scroll_into_view_if_needed()
        box = self.node(node).locator("rect").first.bounding_box()
        assert box is not None
        self.page.mouse.move(box["x"], box["y"] + box["height"] / 2)
        expect(self.root.locator("svg.on-gutter")).to_have_count(1)
        self.page.mouse.click(box["x"], box["y"] + box["height"] / 2)

    def choose(self, node: str) -> None:
        self.node(node).focus()

    def open(self, node: str) -> None:
        """Open a node's card."""
        self.node(node).dblclick()
        expect(self.root.locator(".card.details h3")).to_have_text(node)

    def key_row(self, key: str) -> Locator:
        """The row of a state key."""
        return self.root.locator(".tree [role=treeitem]").filter(has=self.page.locator(".key", has_text=key)).first

    def edit(self, key: str, text: str) -> None:
        """Edit a key in place and apply."""
        self.key_row(key).hover()
        self.key_row(key).locator(".pencil").click()
        field = self.root.locator(".edit .field, .edit input, .edit textarea").first
        field.fill(text)
        field.press("Enter")
        expect(self.root.locator("li.edit")).to_have_count(0, timeout=WAIT_MS)
