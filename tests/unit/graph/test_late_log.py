"""A log that hasn't been read behaves as one that has, whoever looks at it and however."""

from __future__ import annotations

import copy
import json
import pickle
import threading
from collections.abc import Callable
from typing import Any

import pytest

from evonb.graph.isolate import take, wrap
from evonb.graph.late_log import LateLog, read_all
from evonb.graph.message_log import MessageLog, append_log
from evonb.typing import UserMessage


def message(msg_id: str) -> UserMessage:
    return UserMessage(content=f"text of {msg_id}", msg_id=msg_id)


MESSAGES = [message(each) for each in "abc"]


def late(reads: list[int] | None = None) -> LateLog:
    def read() -> list[Any]:
        if reads is not None:
            reads.append(1)
        return list(MESSAGES)

    return LateLog(read)


LOOKS: dict[str, Callable[[Any], Any]] = {
    "len": len,
    "bool": bool,
    "first": lambda log: log[0],
    "slice": lambda log: log[1:],
    "list": list,
    "tuple": tuple,
    "star": lambda log: [*log],
    "sorted": lambda log: sorted(log, key=lambda each: str(each.msg_id)),
    "reversed": lambda log: list(reversed(log)),
    "in": lambda log: MESSAGES[1] in log,
    "index": lambda log: log.index(MESSAGES[2]),
    "equal": lambda log: log == MESSAGES,
    "equal to": lambda log: MESSAGES == log,  # noqa: SIM300 - from the left is what is tried
    "unequal": lambda log: log != [],
    "add": lambda log: log + [1],  # noqa: RUF005
    "add to": lambda log: [1] + log,  # noqa: RUF005 - the operator is what is tried
    "extend by": lambda log: (made := [1], made.extend(log))[0],
    "slice by": lambda log: (made := [1], made.__setitem__(slice(0, 0), log))[0],
    "times": lambda log: log * 2,
    "repr": repr,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda log: pickle.loads(pickle.dumps(log)),
    "json": lambda log: json.dumps(log, default=lambda each: each.msg_id),
    "known": lambda log: log.known(),
    "wrap": lambda log: list(wrap(log)),
    "take": take,
    "log of it": lambda log: MessageLog(log),
}


@pytest.mark.parametrize("name", LOOKS)
def test_every_look_reads_it_first_and_once(name: str) -> None:
    reads: list[int] = []
    log = late(reads)
    assert LOOKS[name](log) == LOOKS[name](MessageLog(MESSAGES))
    assert LOOKS[name](log) == LOOKS[name](MessageLog(MESSAGES))
    assert (type(log), reads) == (MessageLog, [1])


def test_appending_reads_nothing_and_comes_out_the_same() -> None:
    reads: list[int] = []
    one, other = late(reads), MessageLog(MESSAGES)
    made: list[tuple[Any, Any]] = []
    for new in (["d"], ["b", "e"], [], ["e", "a", "f", "f"]):
        one, other = (
            append_log(one, [message(each) for each in new]),
            append_log(other, [message(each) for each in new]),
        )  # type: ignore[assignment]
        made.append((one, other))
    assert reads == []
    assert one == other
    assert [each.msg_id for each in one] == list("abcdef")
    for mine, theirs in reversed(made):
        assert mine == theirs
    assert append_log(one, [message("g"), message("a")])[3:] == [message(each) for each in "defg"]
    assert reads == [1]


def test_a_log_knows_what_came_since_an_earlier_one_of_its_line() -> None:
    reads: list[int] = []
    first = late(reads)
    second = append_log(first, [message("d")])
    third = append_log(second, [message("e"), message("f")])
    sister = append_log(second, [message("x")])
    since = third.since(first)
    assert since is not None
    assert [each.msg_id for each in since] == ["d", "e", "f"]
    assert third.since(third) == []
    assert reads == []
    assert (sister.since(third), first.since(second)) == (None, None)
    assert third.since(second) == [message("e"), message("f")]


def test_what_can_not_be_read_is_told_to_whoever_looks_and_tried_again() -> None:
    works: list[bool] = []

    def read() -> list[Any]:
        if not works:
            raise OSError("the file is away")
        return list(MESSAGES)

    log = append_log(LateLog(read), [message("d")])
    read_all([log])
    for _ in range(2):
        with pytest.raises(OSError, match="away"):
            log[0]
    works.append(True)
    assert [each.msg_id for each in log] == list("abcd")


def test_two_threads_that_look_at_once_read_it_once() -> None:
    reads: list[int] = []
    both, inside = threading.Barrier(2), threading.Event()

    def read() -> list[Any]:
        reads.append(1)
        inside.set()
        both.wait(10)  # the other one is about to look
        return list(MESSAGES)

    log = append_log(LateLog(read), [message("d")])
    first = threading.Thread(target=len, args=(log,))
    first.start()
    assert inside.wait(10)
    fill = log._fill
    both.wait(10)
    fill()  # begun before the first one had finished
    first.join()
    assert (len(log), reads) == (4, [1])
