"""Helpers for people who test their graphs: record the events of runs and read them as steps."""

from evonb.testing.recording import Step, record, steps

__all__ = ["Step", "record", "steps"]
