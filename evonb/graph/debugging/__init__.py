"""The debugger's inside: the session as a tree of moments, and what can be asked of it; see `evonb.graph.debugger`."""

from __future__ import annotations
