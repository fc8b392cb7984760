"""Writes the golden streams: `python tests/golden/make_streams.py`.

Hand-made runs of one graph (also the fixtures of the gallery), awkward cases, and random events of every sort. Python
says where each must end; the TypeScript `reduce` has to end there too.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

from recorder import NO_LAYOUT, Recorder, graph_of, write_stream

from evonb.export import words
from evonb.export.tool_words import tool_at_work
from evonb.protocol.blank import empty_snapshot
from evonb.protocol.durations import duration
from evonb.protocol.snapshot import Snapshot, WireError

FOLDER = Path(__file__).parent / "streams"

SUPPORT = """
start > router
router > plan [complex]
router > draft [simple]
plan > search_web
plan > search_docs
plan > read_code
search_web > merge
search_docs > merge
read_code > merge
merge > draft
draft > critic
draft > tools [tool call]
tools > draft
tools > tools [retry]
critic > plan [replan]
critic > draft [revise]
critic > run_tests [ok]
run_tests > draft [failed]
run_tests > human_review [passed]
human_review > draft [reject]
human_review > summarise [approve]
summarise > end
"""
DOCS = {
    "search_web": "Look the question up on the web.\n\nKeeps the three best pages.",
    "merge": "Join the findings of all searches.",
}
SEARCHES = ("search_web", "search_docs", "read_code")
KEY_ERROR: WireError = {
    "kind": "KeyError",
    "what": "The state has no key 'socre'; it has 'score'.",
    "where": "cell [3], line 24, in node run_tests of graph support, 1st visit",
    "fix": 'Write "score" in line 24 and run cell [3] again: the run goes on here with the new code.',
    "source": [
        {"number": 23, "text": "def run_tests(state):", "hit": False},
        {"number": 24, "text": '    if state["socre"] < 0.7:', "hit": True},
        {"number": 25, "text": '        return {"verdict": "failed"}', "hit": False},
    ],
    "traceback": 'Traceback (most recent call last):\n  File "cell [3]", line 24, in run_tests\n'
    "    if state[\"socre\"] < 0.7:\n       ~~~~~^^^^^^^^^\nKeyError: 'socre'",
}


def support() -> Recorder:
    return Recorder(graph_of("support", SUPPORT, joins=("merge",), docs=DOCS))


def opening(r: Recorder) -> None:
    r.run()
    r.take("start>router")
    r.step("router", 0.2, "topic")
    r.route("router", "router>plan", "router>draft")
    r.step("plan", 1.1, "steps")


def research(r: Recorder, *durations: float) -> None:
    """The three searches side by side, in the order of their names, and the join."""
    for node in SEARCHES:
        r.take(f"plan>{node}", "steps")
        r.begin(node)
    began = r.clock_s
    arrived: list[str] = []
    for seconds, node in sorted(zip(durations, SEARCHES, strict=False)):
        r.at(began + seconds)
        r.end(node, "findings")
        r.take(f"{node}>merge", "findings")
        arrived.append(node)
        missing = [each for each in SEARCHES if each not in arrived]
        if missing:
            r.add("node_waiting", node="merge", arrived=list(arrived), missing=missing)
        else:
            r.add("join_satisfied", node="merge", arrived=list(arrived))


def writing(r: Recorder) -> None:
    r.step("merge", 0.012, "findings")
    r.take("merge>draft")
    r.step("draft", 3.8, "draft")
    r.route("draft", "draft>tools")
    r.step("tools", 0.9, "messages")
    r.take("tools>draft")
    r.step("draft", 4.2, "draft")
    r.take("draft>critic")
    r.step("critic", 1.6, "score")


def running() -> Recorder:
    """In the second round: one search streams, the join waits for it."""
    r = support()
    opening(r)
    research(r, 2.3, 0.8, 3.1)
    writing(r)
    r.route("critic", "critic>draft", "critic>plan", "critic>run_tests")
    r.step("draft", 1.2, "draft")
    r.take("draft>critic")
    r.step("critic", 1.1, "score")
    r.route("critic", "critic>plan", "critic>draft", "critic>run_tests")
    r.step("plan", 1.1, "steps")
    for node in SEARCHES:
        r.take(f"plan>{node}", "steps")
        r.begin(node)
    r.at(r.clock_s + 0.8)
    r.end("search_docs", "findings")
    r.take("search_docs>merge", "findings")
    r.add("node_waiting", node="merge", arrived=["search_docs"], missing=["search_web", "read_code"])
    r.say("search_web", "Three pages fit. The first says that ", 12)
    r.at(r.clock_s + 1.5)
    r.end("read_code", "findings")
    r.take("read_code>merge", "findings")
    r.add("node_waiting", node="merge", arrived=["search_docs", "read_code"], missing=["search_web"])
    r.say("search_web", "the tax office asks for VAT once per line; a total taxed again counts as a", 74)
    return r


def failed() -> Recorder:
    r = support()
    opening(r)
    research(r, 2.3, 0.8, 3.1)
    writing(r)
    r.route("critic", "critic>run_tests", "critic>plan", "critic>draft")
    r.begin("run_tests")
    r.at(r.clock_s + 5.2)
    r.add("node_failed", node="run_tests", duration_s=5.2, what=KEY_ERROR["what"])
    r.add("run_failed", node="run_tests", error=KEY_ERROR, resumable=False)
    return r


def done() -> Recorder:
    r = support()
    opening(r)
    research(r, 2.3, 0.8, 3.1)
    writing(r)
    r.route("critic", "critic>run_tests", "critic>plan", "critic>draft")
    r.step("run_tests", 5.2, "verdict")
    r.route("run_tests", "run_tests>human_review", "run_tests>draft")
    r.step("human_review", 41.0, "verdict")
    r.route("human_review", "human_review>summarise", "human_review>draft")
    r.step("summarise", 1.0, "answer")
    r.take("summarise>end", "answer")
    preview = {
        "kind": "str",
        "text": "VAT is added once per line and once more on the total (billing/tax.py, line 4",
        "cut": True,
    }
    result = {
        "answer": preview,
        "score": {"kind": "float", "text": "0.82", "cut": False},
        "messages": {"kind": "list", "text": "7 messages, the last: assistant: VAT is added once per", "cut": True},
    }
    r.add("run_finished", reason="completed", message="", result=result)
    return r


def starved() -> Recorder:
    """A join that can never fire: the run ends without a result and says why."""
    r = Recorder(
        graph_of(
            "orders", "start > a\nstart > b\na > both\nb > c [no]\nboth > end\nc > end\nb > both [yes]", joins=("both",)
        )
    )
    r.run()
    for node in ("a", "b"):
        r.take(f"start>{node}")
        r.step(node, 0.4, "x")
    r.take("a>both")
    r.add("node_waiting", node="both", arrived=["a"], missing=["b"])
    r.route("b", "b>c", "b>both")
    r.add("node_queued", node="c")
    r.add("node_skipped", node="c", reason="stopped by you", was_running=False)
    why = "both waits for b, which chose c"
    r.add("join_impossible", node="both", arrived=["a"], missing=["b"], why=why)
    r.add("run_finished", reason="starved", message=why, result=None)
    return r


def cut_short() -> Recorder:
    """A failure stops what runs beside it and what is queued: told before the end, after it, or not at all."""
    edges = "start > pick\npick > a [left]\npick > b [left]\npick > other [right]\na > c\nb > c\nc > end\nother > end"
    r = Recorder(graph_of("race", edges + "\npick > d [left]\npick > e [left]", joins=("c",)))
    r.run()
    r.take("start>pick")
    r.step("pick", 0.2, "way")
    r.route("pick", "pick>a", "pick>other")
    for node in ("b", "d", "e"):
        r.take(f"pick>{node}")
    for node in ("a", "b", "d"):
        r.begin(node)
    r.add("node_queued", node="e")
    r.at(0.45)
    r.add("node_skipped", node="a", reason="cancelled, because the run ended", was_running=True)
    r.add("node_failed", node="b", duration_s=0.25, what="no")
    r.add("run_failed", node="b", error={**KEY_ERROR, "where": "node b of graph race"}, resumable=False)
    r.at(0.5)
    r.add("node_skipped", node="d", reason="cancelled, because the run ended", was_running=True)
    return r


def agent() -> Recorder:
    """A model calls tools, a person is asked, the engine warns about a node, tools are at work."""
    r = Recorder(graph_of("refunds", "start > agent\nagent > approve\napprove > pay\npay > end"))
    r.run()
    r.take("start>agent")
    r.begin("agent")
    r.say("agent", "Let me look.", 3)
    for stage, seconds, text in (
        ("asked", None, "\n→ find {}\n"),
        ("running", None, "find {}\n"),
        ("done", 0.4, "find = 1\n"),
    ):
        began = r.clock_s if stage == "running" else None
        call = {"id": "call-1", "tool": "find", "status": stage, "started_s": began, "duration_s": seconds}
        r.add("tool_call", node="agent", call=call, text=text)
    for number in range(24):
        call = {"id": f"many-{number}", "tool": "read", "status": "failed", "started_s": None, "duration_s": 0.1}
        r.add("tool_call", node="agent", call=call, text="read ✗\n")
    r.add("usage", node="agent", tokens_in=812, tokens_out=64, seconds=1.25)
    r.add("usage", node="agent", tokens_in=1204, tokens_out=31, seconds=0.1)
    for number in (1, 1, 2, 3, 4, 5, 6):
        r.add("node_noted", node="agent", text=f"warning {number}")
    r.at(2.5)
    r.end("agent", "messages")
    r.take("agent>approve")
    r.begin("approve")
    r.add("question", node="approve", question="Refund 40 €?", text="? Refund 40 €?\n")
    r.at(9.0)
    r.add("question", node="approve", question="", text="→ True\n")
    r.add("question", node="approve", question="Really?", text="? Really?\n")
    r.begin("pay")
    for name in ("transfer", "book"):
        call = {"id": name, "tool": name, "status": "running", "started_s": r.clock_s, "duration_s": None}
        r.add("tool_call", node="pay", call=call, text=f"{name} {{}}\n")
    r.at(9.4)
    r.say("approve", "waits\n", 1)
    return r


def nested() -> Recorder:
    """A sub-graph as a node, at work in its second visit."""
    edges = """
start > plan
plan > research
research > write
research > plan [again]
write > end
research › find > research › read
research › find > research › ask
research › read > research › merge
research › ask > research › merge
"""
    r = Recorder(graph_of("report", edges, joins=("research › merge",)))
    inner = [f"research › {name}" for name in ("find", "read", "ask", "merge")]
    r.run()
    for turn in (1, 2):
        r.take("start>plan" if turn == 1 else "research>plan")
        r.step("plan", 0.4, "topic")
        r.take("plan>research")
        r.begin("research")
        r.step(inner[0], 0.5, "links")
        for node in inner[1:3]:
            r.take(f"{inner[0]}>{node}")
            r.begin(node)
        r.at(r.clock_s + 0.8)
        r.end(inner[1], "notes")
        r.take(f"{inner[1]}>{inner[3]}")
        r.add("node_waiting", node=inner[3], arrived=[inner[1]], missing=[inner[2]])
        if turn == 2:
            break
        r.end(inner[2], "notes")
        r.take(f"{inner[2]}>{inner[3]}")
        r.step(inner[3], 0.1, "notes")
        r.end("research", "notes")
        r.route("research", "research>plan", "research>write")
    return r


def asked_inside() -> Recorder:
    """A node in a sub-graph asks a person, in two lines; a join beside it waits for its answer."""
    r = nested()
    r.add("question", node="research › ask", question="Read on?\n  Or stop?", text="? Read on?\n  Or stop?\n")
    return r


def awkward() -> Recorder:
    """Names that every JavaScript object inherits, letters of two UTF-16 units, unknown nodes, a second run."""
    names = ("__proto__", "constructor", "toString", "<img src=x onerror=alert(1)>", "名前 🧠")
    edges = "\n".join(f"{a} > {b}" for a, b in zip(("start", *names), (*names, "end"), strict=True))
    r = Recorder(graph_of("awkward </script>", edges, joins=("toString",)))
    r.run()
    r.step("__proto__", 0.1, "hasOwnProperty")
    r.add("node_finished", node="never heard of", duration_s=0.1, wrote=[])
    r.take("never>heard")
    r.begin("constructor")
    r.say("constructor", "🧠" * 399 + "é", 400)
    r.say("constructor", "é👩‍👩‍👧x", 4)
    r.begin("constructor")
    r.at(0.3)
    r.end("constructor")
    r.add("run_paused", reason="breakpoint", waiting=["toString"])
    r.add("node_skipped", node="constructor", reason="cancelled with the run", was_running=True)
    r.run()
    r.say("名前 🧠", "a\nb\u2028c", 3)
    r.take("start>__proto__", "x", count=1200)
    return r


def scattered(seed: int) -> Recorder:
    """Every sort of event about a small graph in no order at all: `reduce` must not mind."""
    rng = random.Random(seed)
    nodes = ["a", "b", "c", "d", "unknown"]
    graph = graph_of("random", "start > a\na > b\na > c [x]\nb > d\nc > d\nd > a [again]\nd > end", joins=("d",))
    r = Recorder(empty_snapshot(graph["graph"], NO_LAYOUT, seq=rng.randrange(50)))
    for _ in range(120):
        r.clock_s += rng.random()
        scatter(r, rng, nodes, graph)
        if rng.random() < 0.3:
            r.cut()
    return r


def scatter(r: Recorder, rng: random.Random, nodes: list[str], graph: Snapshot) -> None:
    node = rng.choice(nodes)
    edges = [edge["id"] for edge in graph["graph"]["edges"]]
    some = rng.sample(nodes, rng.randrange(3))
    seconds = round(rng.random() * 3, 3)
    kinds = {
        "run_started": {"run_id": f"run-{seconds}", "started_at": STARTED + seconds},
        "run_paused": {"reason": "breakpoint", "waiting": some},
        "run_finished": {"reason": "max_turn", "message": "20 turns", "result": None},
        "run_failed": {"node": rng.choice([None, node]), "error": KEY_ERROR, "resumable": rng.random() < 0.5},
        "node_queued": {"node": node},
        "node_waiting": {"node": node, "arrived": some, "missing": rng.sample(nodes, 2)},
        "node_started": {"node": node, "visit": rng.randrange(1, 5)},
        "node_finished": {"node": node, "duration_s": seconds, "wrote": some},
        "node_failed": {"node": node, "duration_s": seconds, "what": "no"},
        "node_skipped": {"node": node, "reason": "cancelled", "was_running": rng.random() < 0.5},
        "edge_taken": {"edge": rng.choice(edges), "keys": some, "count": rng.randrange(1, 9)},
        "route_decided": {"node": node, "chosen": some, "passed_over": rng.sample(edges, 2)},
        "join_satisfied": {"node": node, "arrived": some},
        "join_impossible": {"node": node, "arrived": some, "missing": rng.sample(nodes, 1), "why": "no"},
        "chunk": {
            "node": node,
            "text": rng.choice(["word ", "🧠", "é\n"]) * rng.randrange(200),
            "count": rng.randrange(9),
        },
    }
    kinds |= {
        "tool_call": {
            "node": node,
            "call": {
                "id": rng.choice("xyz"),
                "tool": rng.choice(["find", "read", "🧠" * 30]),
                "status": rng.choice(["asked", "running", "running", "done", "failed"]),
                "started_s": rng.choice([None, round(r.clock_s, 3)]),
                "duration_s": rng.choice([None, seconds]),
            },
            "text": "→ find\n",
        },
        "usage": {"node": node, "tokens_in": rng.randrange(99), "tokens_out": rng.randrange(99), "seconds": seconds},
        "question": {"node": node, "question": rng.choice(["", "Really?"]), "text": "?"},
        "node_noted": {"node": node, "text": rng.choice("abcdefg")},
    }
    # Restarts are rare, so that there is something to lose.
    kind = rng.choice([k for k in kinds if k != "run_started"] + ["run_started"] * (rng.random() < 0.1))
    r.add(kind, **kinds[kind])


STARTED = 1_790_000_000.0


def streams() -> Iterator[tuple[str, str, Recorder]]:
    """Every stream as (file name, what it is about, recording)."""
    yield "support_idle", "the graph before any run", support()
    for make in (running, failed, done):
        yield f"support_{make.__name__}", (make.__doc__ or f"a run that ends {make.__name__}").split("\n")[0], make()
    for make in (starved, cut_short, agent, nested, asked_inside, awkward):
        yield make.__name__, (make.__doc__ or "").split("\n")[0], make()
    for seed in range(6):
        yield f"random_{seed}", "events in no order at all", scattered(seed)


def words_of(snapshot: Snapshot) -> dict[str, object]:
    """What the still picture says of a snapshot; the live view has to say the same."""
    known = words.names(snapshot)
    said = {}
    for node in snapshot["graph"]["nodes"]:
        state = snapshot["nodes"][node["id"]]
        said[node["id"]] = words.say_node(node, state, words.time_of(state, snapshot["run"]["elapsed_s"]), known)
    tools = [tool_at_work(state, snapshot["run"]["elapsed_s"]) for state in snapshot["nodes"].values()]
    told = {"headline": words.headline(snapshot), "nodes": said, "at_work": [tool for tool in tools if tool]}
    return {"chip": list(words.chip(snapshot)), **told}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    seconds = (0, 0.0125, 0.012, 0.25, 0.35, 0.0994, 0.0995, 3.14, 59.94, 59.96, 64, 3599.4, 3599.6, 7384)
    spoken: dict[str, object] = {"durations": [[s, duration(s)] for s in seconds]}
    for name, about, recorder in streams():
        spoken[name] = words_of(write_stream(FOLDER, name, about, recorder))
    text = json.dumps(spoken, ensure_ascii=False, indent=1)
    (FOLDER.parent / "words.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
