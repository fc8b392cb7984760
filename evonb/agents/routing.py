"""Routers for the loop of an agent and its tools, and the loop itself as a graph."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from evonb.agents.agent import AgentNode
from evonb.agents.conversation import Text, calls_of, last_message
from evonb.agents.tool_node import ToolNode
from evonb.agents.toolbox import as_toolbox
from evonb.graph.builder import GraphBuilder
from evonb.graph.dsl import RouterFunction, router

__all__ = ["Conversation", "has_tool_calls", "react_graph", "tool_router"]


class Conversation(TypedDict):
    """The smallest state of a chat: messages that are appended."""

    messages: Annotated[list[Any], "append_messages"]


def has_tool_calls(conversation: Any, key: str = "messages") -> bool:
    """Whether the last message is a model's and asks for tools.

    Args:
        conversation: A message, a list of messages, or a state.
        key: The state key that holds the messages.

    Example:
        >>> from evonb.typing import UserMessage
        >>> has_tool_calls({"messages": [UserMessage(content="hi")]})
        False
    """
    return bool(calls_of(last_message(conversation, key)))


def tool_router(tools: Any = "tools", otherwise: Any = "end", *, key: str = "messages") -> RouterFunction:
    """A router to `tools` when the last message asks for some, else to `otherwise`.

    Args:
        tools: The tool node, or its name.
        otherwise: Where a finished answer goes.
        key: The state key that holds the messages.

    Example:
        START >> agent >> tool_router("tools")
        tools >> agent
    """

    def calls_tools(state: Any) -> str:
        """Does the model ask for a tool?"""
        return "calls" if has_tool_calls(state, key) else "answers"

    return router({"calls": tools, "answers": otherwise})(calls_tools)


def react_graph(
    model: Any, tools: Any, *, system: Text = "", name: str = "agent", state_schema: Any = Conversation, **options: Any
) -> GraphBuilder:
    """The loop of a model and its tools as a graph that can be seen and extended: agent, tools, agent, ... end.

    Args:
        model: As for `AgentNode`.
        tools: A registry, or tools and functions.
        system: The system prompt.
        name: The graph's name.
        state_schema: A schema with the key `messages`, appended by "append_messages".
        options: Further settings of the `AgentNode`.

    Returns:
        The builder: `react_graph(model, [search]).build(max_turn=20)`.
    """
    toolbox = as_toolbox(tools)
    builder = GraphBuilder(state_schema=state_schema, name=name)
    builder.add_node("agent", AgentNode(model=model, tools=toolbox, system=system, **options))
    builder.add_node("tools", ToolNode(tools=toolbox), effect=True)
    builder.set_entry_point("agent")
    choose = tool_router("tools")
    builder.add_condition_edge("agent", choose, choose.targets, routes=choose.routes, labels=_labels(choose))
    builder.add_edge("tools", "agent")
    return builder


def _labels(chooser: RouterFunction) -> dict[str, str]:
    return {target: label for label, target in chooser.routes.items()}
