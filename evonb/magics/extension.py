"""What `%load_ext evonb` adds to a shell, and what `%unload_ext evonb` takes back: everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evonb.errors import MagicError
from evonb.graph import GraphBuilder, GraphEngine, RunHandle
from evonb.magics import cards
from evonb.magics.cell import abandon, forget_names
from evonb.magics.completion import evo_matcher
from evonb.magics.evo import run_line
from evonb.magics.interrupts import Waking
from evonb.magics.options import USAGE
from evonb.magics.session import Session, end_session, start_session
from evonb.magics.sources import cover_sources, uncover_sources
from evonb.magics.syntax import cover_syntax_errors, uncover_syntax_errors
from evonb.magics.tracebacks import cover_tracebacks, uncover_tracebacks
from evonb.magics.transformer import EvoCommand, evograph_cell, is_evograph
from evonb.widgets.display import close_all, enter_cell, show, show_builder
from evonb.widgets.feed import flush_all

__all__ = ["Extension"]


class Extension:
    """The loaded extension of one shell."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._session: Session = start_session(shell)
        self._waking = Waking()
        self._undo: list[Callable[[], None]] = [end_session, lambda: forget_names(shell.user_ns)]
        cover_sources(shell, self._session)
        self._undo.append(lambda: uncover_sources(shell))
        self._add_transforms()
        self._add_events()
        self._add_magics()
        self._add_displays()
        cards.install()
        cover_tracebacks(shell)
        self._undo += [
            cards.uninstall,
            lambda: uncover_tracebacks(shell),
            self._waking.stop,
            close_all,
            lambda: uncover_syntax_errors(shell),
            lambda: abandon(self._session),
        ]

    def unload(self) -> None:
        """Undo in reverse order; safe to call twice."""
        while self._undo:
            self._undo.pop()()

    def _add_transforms(self) -> None:
        cleanups = self._shell.input_transformers_cleanup
        tokens = self._shell.input_transformer_manager.token_transformers
        # Before IPython drops leading blank lines, which would shift the line numbers.
        cleanups.insert(0, evograph_cell)
        tokens.insert(0, EvoCommand)
        self._undo += [lambda: _remove(cleanups, evograph_cell), lambda: _remove(tokens, EvoCommand)]

    def _add_events(self) -> None:
        events = self._shell.events
        for name, callback in (("pre_run_cell", self._before_cell), ("post_run_cell", self._after_cell)):
            events.register(name, callback)
            self._undo.append(lambda name=name, callback=callback: events.unregister(name, callback))  # type: ignore[misc]

    def _add_magics(self) -> None:
        """Transforms do the work; these give help and completion, and speak up where a transform can't act."""
        shell = self._shell
        shell.register_magic_function(_evo_magic, "line", "evo")
        shell.register_magic_function(_evograph_magic, "cell", "evograph")
        magics = shell.magics_manager.magics
        self._undo += [lambda: magics["line"].pop("evo", None), lambda: magics["cell"].pop("evograph", None)]
        if (completer := getattr(shell, "Completer", None)) is not None:
            completer.custom_matchers.append(evo_matcher)
            self._undo.append(lambda: _remove(completer.custom_matchers, evo_matcher))

    def _add_displays(self) -> None:
        formatter = self._shell.display_formatter.ipython_display_formatter
        displays: dict[type, Callable[[Any], None]] = {
            GraphEngine: show,
            GraphBuilder: show_builder,
            RunHandle: lambda handle: show(handle.engine),
        }
        for kind, display in displays.items():
            formatter.for_type(kind, display)
            self._undo.append(lambda kind=kind: formatter.pop(kind, None))  # type: ignore[misc]

    def _before_cell(self, info: Any) -> None:
        cards.forget_shown()
        self._waking.start()
        enter_cell(getattr(info, "cell_id", None))
        self._session.raw_cell = info.raw_cell
        if is_evograph(info.raw_cell):
            cover_syntax_errors(self._shell, info.raw_cell, self._session.cell_place)

    def _after_cell(self, _result: object) -> None:
        self._waking.stop()
        uncover_syntax_errors(self._shell)
        abandon(self._session)
        flush_all()


def _evo_magic(line: str) -> Any:
    """List, show, run and debug graphs, and answer what their nodes ask.

    %evo list | show NAME | run NAME [inputs] | debug NAME [inputs] | answer VALUE [at NODE]

    In a session that debug began: break NODE | step [NODE] [--into | --out] | resume | to NODE | pause | stop
    | state [KEY] | why NODE | who KEY | edit KEY=EXPR | back [N] | on [N] | live | until EXPR | fork [NAME]
    | compare A B | runs | open RUN

    %evo help says what each of them does.
    """
    return run_line(line)


def _evograph_magic(line: str, cell: str | None = None) -> None:
    """A cell whose code declares a graph; it builds the graph, binds it to NAME and shows it."""
    raise MagicError(
        "%%evograph must be the very first line of a cell", where=f"%%evograph {line}", fix=f"put it first: {USAGE}"
    )


def _remove(items: list[Any], item: object) -> None:
    if item in items:
        items.remove(item)
