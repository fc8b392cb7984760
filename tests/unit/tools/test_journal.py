"""A node that runs again must not act again, unless somebody asks for it."""

from typing import Any

import pytest

from evonb.tools import ReceiptJournal, ToolRegistry, tool


class Mail:
    def __init__(self) -> None:
        self.sent: list[str] = []

    @tool(effect="write")
    def send(self, to: str) -> str:
        """Send a mail."""
        self.sent.append(to)
        if to == "nobody":
            raise ConnectionError("no such box")
        return f"sent to {to}"


@pytest.fixture
def mail() -> Mail:
    return Mail()


@pytest.mark.asyncio
async def test_a_completed_call_is_answered_from_its_receipt_the_second_time(mail: Mail, recorder: Any) -> None:
    calls = ToolRegistry([mail.send], journal=ReceiptJournal())
    first = await calls.ainvoke("send", {"to": "ada"}, call_id="c1")
    calls.attach(recorder)
    again = await calls.ainvoke("send", '{"to": "ada"}', call_id="c1")
    assert mail.sent == ["ada"]
    assert (first.replayed, again.replayed) == (False, True)
    assert (again.status, again.output, again.effect) == ("completed", "sent to ada", "write")
    assert again.invocation_id != first.invocation_id
    assert recorder.names == ["ToolStarted", "ToolFinished"]


@pytest.mark.asyncio
async def test_running_again_has_to_be_asked_for(mail: Mail) -> None:
    calls = ToolRegistry([mail.send], journal=ReceiptJournal())
    await calls.ainvoke("send", {"to": "ada"}, call_id="c1")
    again = await calls.ainvoke("send", {"to": "ada"}, call_id="c1", rerun=True)
    assert mail.sent == ["ada", "ada"]
    assert not again.replayed


@pytest.mark.asyncio
async def test_another_call_other_arguments_and_calls_without_id_do_run(mail: Mail) -> None:
    calls = ToolRegistry([mail.send], journal=ReceiptJournal())
    for call_id, to in [("c1", "ada"), ("c2", "ada"), ("c1", "bob"), (None, "eve"), (None, "eve")]:
        await calls.ainvoke("send", {"to": to}, call_id=call_id)
    assert mail.sent == ["ada", "ada", "bob", "eve", "eve"]


@pytest.mark.asyncio
async def test_a_failed_call_is_tried_again(mail: Mail) -> None:
    calls = ToolRegistry([mail.send], journal=ReceiptJournal())
    for _ in range(2):
        assert (await calls.ainvoke("send", {"to": "nobody"}, call_id="c1")).status == "failed"
    assert mail.sent == ["nobody", "nobody"]


@pytest.mark.asyncio
async def test_a_journal_survives_the_process(mail: Mail) -> None:
    journal = ReceiptJournal()
    await ToolRegistry([mail.send], journal=journal).ainvoke("send", {"to": "ada"}, call_id="c1")
    loaded = ReceiptJournal.loads(journal.dumps())
    assert len(loaded) == 1
    again = await ToolRegistry([mail.send], journal=loaded).ainvoke("send", {"to": "ada"}, call_id="c1")
    assert again.replayed
    assert mail.sent == ["ada"]


@pytest.mark.asyncio
async def test_tools_without_a_mark_count_as_acting(bare: Any) -> None:
    receipt = await ToolRegistry([bare("t", lambda value, context: 1)]).ainvoke("t")
    assert receipt.effect == "write"
