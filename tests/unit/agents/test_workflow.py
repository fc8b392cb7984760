"""Workflows and the engine that binds them: the documented examples in Python, and what their captions promise."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, TypedDict

import pytest
from pydantic import BaseModel

from evonb.agents import (
    AgentCoreEngine,
    AgentNode,
    ModelSet,
    RoundLimit,
    Runtime,
    complete,
    define_workflow,
    route,
    workflow,
    workflow_node,
)
from evonb.errors import EvonbError, GraphError, NodeError
from evonb.graph.events import Chunk
from evonb.tools import ToolRegistry, tool

GREET = {
    "id": "greet",
    "description": "Greet by this request's name",
    "starts_round": True,
    "run": lambda state: {"answer": "你好," + state["name"]},
    "routes": [route.deliver("answer")],
}


def greeting() -> Any:
    return define_workflow("greeting", [GREET])


def counting(limit: int) -> Any:
    """A loop that counts up to a limit."""
    return define_workflow(
        "counting",
        [
            {
                "id": "think",
                "starts_round": True,
                "run": lambda state: {"count": state["count"] + 1},
                "routes": [route.deliver("count", when=lambda state: state["count"] >= limit), route.to("act")],
            },
            {"id": "act", "run": lambda state: None, "routes": [route.to("think")]},
        ],
    )


# --- the examples ------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_one_plain_step_is_enough() -> None:
    agent = AgentCoreEngine()
    assert await agent.run(lambda: {"type": "complete", "value": "你好,Core"}) == "你好,Core"


@pytest.mark.asyncio
async def test_an_explicit_workflow_runs_by_the_same_word() -> None:
    agent = AgentCoreEngine(workflow=greeting())
    assert await agent.run({"name": "Ivan"}) == "你好,Ivan"
    assert await agent.run({"name": "访客"}) == "你好,访客"


def test_the_examples_run_in_plain_scripts() -> None:
    assert AgentCoreEngine().run_sync(lambda: complete("done")) == "done"
    assert AgentCoreEngine(workflow=greeting()).run_sync({"name": "Ivan"}) == "你好,Ivan"


# --- one step ---------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_a_step_may_be_async_and_take_the_runtime(script: Any) -> None:
    async def step(runtime: Runtime) -> dict[str, Any]:
        return complete((await runtime.model().chat("Hello")).content)

    assert await AgentCoreEngine(models={"small": script("Hi.")}).run(step) == "Hi."


@pytest.mark.parametrize("answer", [None, "text", {"type": "done", "value": 1}, {"type": "complete"}])
@pytest.mark.asyncio
async def test_a_step_that_does_not_complete_is_an_error_that_shows_how(answer: Any) -> None:
    with pytest.raises(NodeError, match="A step answers") as caught:
        await AgentCoreEngine().run(lambda: answer)
    assert caught.value.fix == "return complete(value)"


@pytest.mark.asyncio
async def test_a_value_of_none_or_false_is_a_value() -> None:
    assert await AgentCoreEngine().run(lambda: complete(None)) is None
    assert await AgentCoreEngine().run(lambda: complete(False)) is False


# --- routes and rounds ------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_the_first_route_that_holds_is_taken() -> None:
    assert await AgentCoreEngine(workflow=counting(3)).run({"count": 0}) == 3


@pytest.mark.asyncio
async def test_rounds_are_counted_and_bounded() -> None:
    engine = AgentCoreEngine(workflow=counting(5), max_rounds=5)
    assert await engine.run({"count": 0}) == 5
    with pytest.raises(NodeError, match="Round 6 would begin") as caught:
        await engine.run({"count": -1})
    assert isinstance(caught.value.__cause__, RoundLimit)
    assert caught.value.inputs["flow"]["rounds"] == 5
    assert await engine.run({"count": 0}) == 5  # every run counts anew


@pytest.mark.asyncio
async def test_runs_of_one_engine_side_by_side_do_not_mix() -> None:
    engine = AgentCoreEngine(workflow=counting(5), max_rounds=5)
    assert await asyncio.gather(*(engine.run({"count": start}) for start in range(5))) == [5] * 5


@pytest.mark.asyncio
async def test_a_run_changes_neither_its_input_nor_the_bound_state() -> None:
    bound, given = {"name": "nobody", "log": []}, {"name": "Ivan"}
    node = {**GREET, "run": lambda state: state["log"].append(1) or {"answer": state["name"], "log": state["log"]}}
    engine = AgentCoreEngine(workflow=define_workflow("w", [node]), state=bound)
    assert [await engine.run(given), await engine.run()] == ["Ivan", "nobody"]
    assert (bound, given) == ({"name": "nobody", "log": []}, {"name": "Ivan"})


@pytest.mark.asyncio
async def test_update_strategies_and_models_as_schema_work() -> None:
    class Log(TypedDict):
        lines: Annotated[list[str], "extend"]

    class Count(BaseModel):
        count: int = 0

    lines = [
        {"id": "a", "run": lambda state: {"lines": ["a"]}, "routes": [route.to("b")]},
        {"id": "b", "run": lambda state: {"lines": ["b"]}, "routes": [route.deliver("lines")]},
    ]
    assert await AgentCoreEngine(workflow=define_workflow("log", lines, state=Log)).run() == ["a", "b"]
    count = {"id": "a", "run": lambda state: {"count": state.count + 1}, "routes": [route.deliver("count")]}
    assert await AgentCoreEngine(workflow=define_workflow("count", [count], state=Count)).run({"count": 2}) == 3


@pytest.mark.asyncio
async def test_a_node_that_is_async_or_an_agent_node_works(script: Any) -> None:
    async def slow(state: Any) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"messages": [f"Hello, {state['name']}"]}

    nodes = [
        {"id": "slow", "run": slow, "routes": [route.to("agent")]},
        {"id": "agent", "run": AgentNode(model=script("Hi.")), "routes": [route.deliver("messages")]},
    ]
    [reply] = await AgentCoreEngine(workflow=define_workflow("w", nodes)).run({"name": "Ivan"})
    assert reply.content == "Hi."


@pytest.mark.asyncio
async def test_the_graph_can_be_seen_and_shows_the_users_code() -> None:
    engine = AgentCoreEngine(workflow=counting(3))
    topology = engine.graph.topology()
    labels = {(edge.source, edge.target): edge.label for edge in topology.edges}
    assert labels == {
        ("start", "think"): "",
        ("think", "end"): "deliver count",
        ("think", "act"): "",
        ("act", "think"): "",
    }
    assert 'state["count"] + 1' in next(node.source for node in topology.nodes if node.name == "think")
    assert [finding for finding in topology.findings if finding.level == "error"] == []


# --- adding, binding, forking -------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_adding_to_a_workflow_makes_a_new_one() -> None:
    base = define_workflow("base", [{**GREET, "routes": [route.to("shout")]}])
    louder = base.add(
        {"id": "shout", "run": lambda state: {"answer": state["answer"] + "!"}, "routes": [route.deliver("answer")]},
        id="louder",
    )
    assert [node.id for node in base.nodes] == ["greet"]
    assert [node.id for node in louder.nodes] == ["greet", "shout"]
    assert louder.origin is base
    assert await AgentCoreEngine(workflow=louder).run({"name": "Ivan"}) == "你好,Ivan!"


@pytest.mark.asyncio
async def test_whole_workflows_can_be_added_and_nodes_replaced() -> None:
    both = define_workflow("first", [{**GREET, "routes": [route.to("think")]}]).add(counting(2))
    assert await AgentCoreEngine(workflow=both).run({"name": "Ivan", "count": 0}) == 2
    polite = greeting().add({**GREET, "run": lambda state: {"answer": "Dear " + state["name"]}}, replacing=True)
    assert await AgentCoreEngine(workflow=polite).run({"name": "Ivan"}) == "Dear Ivan"


@pytest.mark.asyncio
async def test_a_fork_inherits_bindings_and_its_origin(script: Any) -> None:
    models, registry = ModelSet({"small": script("s")}), ToolRegistry([])
    base = AgentCoreEngine(workflow=greeting(), models=models, tools=registry, state={"name": "Ivan"})
    fork = base.fork(state={"name": "Maria"})
    assert (fork.origin, base.origin) == (base, None)
    assert (fork.models, fork.tools, fork.workflow) == (models, registry, base.workflow)
    assert [await base.run(), await fork.run()] == ["你好,Ivan", "你好,Maria"]


@pytest.mark.asyncio
async def test_bindings_are_added_step_by_step_and_forks_keep_theirs() -> None:
    engine = AgentCoreEngine()
    assert await engine.run(lambda: complete(1)) == 1
    engine.bind(workflow=greeting()).bind(state={"name": "Ivan"})
    fork = engine.fork()
    engine.bind(state={"name": "Maria"})
    assert [await engine.run(), await fork.run()] == ["你好,Maria", "你好,Ivan"]


@pytest.mark.asyncio
async def test_a_binding_that_fails_changes_nothing() -> None:
    engine = AgentCoreEngine(workflow=greeting(), state={"name": "Ivan"})
    with pytest.raises(GraphError):
        engine.bind(workflow=define_workflow("bad", [{**GREET, "routes": []}]))
    assert await engine.run() == "你好,Ivan"


# --- models and tools -------------------------------------------------------------------------------


def asking_models() -> Any:
    async def both(state: Any, runtime: Runtime) -> dict[str, Any]:
        picked = await runtime.model().chat("?")
        always = await runtime.model("large").chat("?")
        return {"answer": [picked.content, always.content]}

    return define_workflow("models", [{"id": "both", "run": both, "routes": [route.deliver("answer")]}])


@pytest.mark.asyncio
async def test_models_are_configured_once_and_picked_by_id_per_request(script: Any) -> None:
    models = {"small": script("s", "s"), "large": script("l", "l", "l", "l")}
    engine = AgentCoreEngine(workflow=asking_models(), models=models)
    assert await engine.run() == ["s", "l"]
    assert await engine.run(model="large") == ["l", "l"]
    assert await engine.run() == ["s", "l"]


@pytest.mark.asyncio
async def test_an_unknown_model_ends_the_request_before_anything_runs(script: Any) -> None:
    ran = []
    engine = AgentCoreEngine(models={"small": script("s")})
    with pytest.raises(EvonbError, match="did you mean 'small'"):
        await engine.run(lambda: ran.append(1), model="smal")
    assert ran == []
    with pytest.raises(EvonbError, match="no models"):
        await AgentCoreEngine().run(lambda: complete(1), model="small")


def shopping(seen: list[Any]) -> Any:
    async def order(state: Any, runtime: Runtime) -> dict[str, Any]:
        receipt = await runtime.call("order", {"item": state["item"]}, call_id="c1")
        seen.append(receipt)
        return {"answer": receipt.to_model_text()}

    return define_workflow("shop", [{"id": "buy", "run": order, "routes": [route.deliver("answer")]}])


@tool
def order(item: str) -> str:
    """Order something."""
    return f"{item} is on its way"


@pytest.mark.asyncio
async def test_a_tool_call_gives_a_receipt_whose_id_is_in_its_events() -> None:
    seen: list[Any] = []
    chunks: list[Chunk] = []
    engine = AgentCoreEngine(workflow=shopping(seen), tools=[order])
    detach = engine.attach(lambda event: chunks.append(event) if isinstance(event, Chunk) else None)
    assert await engine.run({"item": "tea"}) == "tea is on its way"
    assert seen[0].invocation_id
    assert {chunk.payload["invocation_id"] for chunk in chunks} == {seen[0].invocation_id}
    assert {(chunk.node, chunk.tool_name, chunk.tool_call_id) for chunk in chunks} == {("buy", "order", "c1")}
    detach()
    count = len(chunks)
    await engine.run({"item": "tea"})
    assert len(chunks) == count


@pytest.mark.asyncio
async def test_authorisation_belongs_to_the_applications_own_hook() -> None:
    def only_tea(asked: Any, parsed: Any, context: Any) -> None:
        if parsed["item"] != "tea":
            raise PermissionError(f"{parsed['item']} isn't for sale")

    seen: list[Any] = []
    engine = AgentCoreEngine(workflow=shopping(seen), tools=ToolRegistry([order], before_execute=only_tea))
    assert await engine.run({"item": "tea"}) == "tea is on its way"
    assert "gold isn't for sale" in await engine.run({"item": "gold"})
    assert [receipt.ok for receipt in seen] == [True, False]


@pytest.mark.asyncio
async def test_a_call_without_tools_says_where_to_bind_them() -> None:
    with pytest.raises(NodeError, match="no tools"):
        await AgentCoreEngine(workflow=shopping([])).run({"item": "tea"})


# --- decorators ---------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_a_decorated_function_is_a_node_and_stays_callable() -> None:
    @workflow_node(starts_round=True, routes=[route.deliver("answer")])
    def greet(state: Any) -> dict[str, Any]:
        """Greets."""
        return {"answer": "Hello, " + state["name"]}

    assert greet({"name": "x"}) == {"answer": "Hello, x"}
    assert (greet.id, greet.description, greet.starts_round) == ("greet", "Greets.", True)
    assert await AgentCoreEngine(workflow=define_workflow("w", [greet])).run({"name": "Ivan"}) == "Hello, Ivan"


@pytest.mark.asyncio
async def test_a_decorated_class_is_made_once_and_its_run_is_the_node() -> None:
    made = []

    @workflow_node(id="greet", routes=[route.deliver("answer")])
    class Greeter:
        """Greets."""

        def __init__(self) -> None:
            made.append(1)

        def run(self, state: Any) -> dict[str, Any]:
            return {"answer": "Hello, " + state["name"]}

    engine = AgentCoreEngine(workflow=define_workflow("w", [Greeter]))
    assert [await engine.run({"name": "a"}), await engine.run({"name": "b"})] == ["Hello, a", "Hello, b"]
    assert made == [1]


class Desk:
    """An application's own object."""

    def __init__(self, word: str = "Hello") -> None:
        self.word = word

    @workflow_node(starts_round=True, routes=route.to("sign"))
    def greet(self, state: Any) -> dict[str, Any]:
        return {"answer": f"{self.word}, {state['name']}"}

    @workflow_node(routes=[route.deliver("answer")])
    async def sign(self, state: Any, runtime: Runtime) -> dict[str, Any]:
        return {"answer": f"{state['answer']} ({self.word})"}


@pytest.mark.asyncio
async def test_decorated_methods_are_bound_to_the_instance_they_are_taken_from() -> None:
    answers = []
    for desk in (Desk("Hello"), Desk("Good day")):
        engine = AgentCoreEngine(workflow=define_workflow("desk", [desk.greet, desk.sign]))
        answers.append(await engine.run({"name": "Ivan"}))
    assert answers == ["Hello, Ivan (Hello)", "Good day, Ivan (Good day)"]


@pytest.mark.asyncio
async def test_a_decorated_class_of_methods_is_a_workflow() -> None:
    made = workflow("desk")(Desk)
    assert (made.id, [node.id for node in made.nodes]) == ("desk", ["greet", "sign"])
    assert await AgentCoreEngine(workflow=made).run({"name": "Ivan"}) == "Hello, Ivan (Hello)"


# --- bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ([], "no nodes"),
        ([GREET, GREET], "'greet' is there twice"),
        ([{**GREET, "id": "start"}], "'start' is reserved"),
        ([{**GREET, "startsRound": True}], "no field 'startsRound'"),
        ([{"id": "a"}], "no run"),
        ([{**GREET, "run": 3}], "3 as its run"),
        ([{**GREET, "routes": ["answer"]}], "'answer' isn't a route"),
        ([3], "found int"),
    ],
)
def test_a_workflow_that_cannot_be_is_refused_in_words(nodes: list[Any], words: str) -> None:
    with pytest.raises(GraphError, match=words) as caught:
        define_workflow("w", nodes)
    assert caught.value.fix


def test_all_faults_of_the_routes_are_told_at_once_when_bound() -> None:
    nodes = [
        {**GREET, "id": "ask", "starts_round": False, "routes": [route.to("answr"), route.to("look")]},
        {**GREET, "id": "look", "starts_round": False, "routes": [route.to("ask")]},
        {**GREET, "id": "answer", "routes": []},
    ]
    with pytest.raises(GraphError) as caught:
        AgentCoreEngine(workflow=define_workflow("w", nodes))
    text = str(caught.value)
    assert "'ask' leads to 'answr', which isn't there" in text
    assert "'answer' has no routes" in text
    assert "no route delivers" in text
    assert "the loop ask > look > ask has no node that starts a round" in text
    assert caught.value.fix == "did you mean 'answer'?"


@pytest.mark.parametrize("make", [lambda: route.to(""), lambda: route.deliver(3), lambda: route.to("a", when="x > 1")])
def test_a_route_that_cannot_be_is_refused(make: Any) -> None:
    with pytest.raises(GraphError):
        make()


@pytest.mark.asyncio
async def test_a_node_without_a_fitting_route_and_a_missing_result_fail_with_the_place() -> None:
    picky = {**GREET, "routes": [route.deliver("answer", when=lambda state: False)]}
    with pytest.raises(NodeError, match="No route's condition holds") as caught:
        await AgentCoreEngine(workflow=define_workflow("w", [picky])).run({"name": "Ivan"})
    assert "last route without a condition" in caught.value.fix
    wrong = {**GREET, "routes": [route.deliver("anwser")]}
    with pytest.raises(NodeError, match="no key 'anwser'") as caught:
        await AgentCoreEngine(workflow=define_workflow("w", [wrong])).run({"name": "Ivan"})
    assert caught.value.fix == "did you mean 'answer'?"


@pytest.mark.asyncio
async def test_a_state_without_a_workflow_and_odd_bindings_are_refused() -> None:
    with pytest.raises(GraphError, match="No workflow is bound"):
        await AgentCoreEngine().run({"name": "Ivan"})
    with pytest.raises(GraphError, match="did you mean 'tools'"):
        AgentCoreEngine().bind(tool=[order])
    with pytest.raises(GraphError, match="A workflow was expected"):
        AgentCoreEngine(workflow=[GREET])  # type: ignore[arg-type]
    with pytest.raises(GraphError, match="no node 'gret'"):
        greeting().node("gret")


def test_classes_that_cannot_be_made_or_have_no_nodes_are_named() -> None:
    class Needy:
        """Wants an argument."""

        def __init__(self, word: str) -> None:
            self.word = word

        @workflow_node(routes=[route.deliver("answer")])
        def greet(self, state: Any) -> None:
            """Greets."""

    with pytest.raises(GraphError, match="without arguments"):
        workflow("w")(Needy)
    with pytest.raises(GraphError, match="has no nodes"):
        workflow("w")(Runtime)
    with pytest.raises(GraphError, match="no method run"):
        workflow_node(object)
