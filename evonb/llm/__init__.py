"""Chat models for the nodes of a graph. Today: `ScriptedModel`, whose replies are written down."""

from evonb.llm.scripted import Reply, ScriptedModel, recorded

__all__ = ["Reply", "ScriptedModel", "recorded"]
