"""Graphs of the project as runs and calls open them: a compiled graph as it is, a factory called for each use."""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager
from typing import Any

from langgraph.pregel import Pregel
from langgraph.store.base import BaseStore

AnyGraph = Pregel[Any, Any, Any, Any]

_EXPECTED = (
    "Export a compiled graph, a StateGraph, or a function or async context manager that returns one, with the "
    "parameters (), (config) or (runtime)."
)


class GraphError(Exception):
    """The developer's mistake, fully explained by its message."""


class OpenInput(typing.NamedTuple):
    config: dict[str, Any]
    access: str
    """Access context of LangGraph's servers: `threads.create_run`, `threads.read` and so on."""
    context: Any
    store: BaseStore


class LoadedGraph:
    """A graph as the project exports it."""

    def __init__(self, exported: Any, path: str) -> None:
        self._path = path
        self._graph = to_graph(exported)
        self._factory: Callable[[OpenInput], Any] | None = None
        self._is_first = True
        if self._graph is None:
            if not callable(exported):
                raise GraphError(f"{path} is {_describe(exported)}, not a LangGraph graph. {_EXPECTED}")
            self._factory = _call_with(exported, path)

    @property
    def static(self) -> AnyGraph | None:
        """The graph itself, where no factory makes it."""
        return self._graph

    @property
    def replaced_parts(self) -> list[str]:
        """Names what the project compiled the graph with and runs do not use."""
        return _replaced_parts(self._graph) if self._graph else []

    @asynccontextmanager
    async def open(self, given: OpenInput) -> AsyncIterator[AnyGraph]:
        if self._graph is not None:
            yield self._graph
            return
        assert self._factory is not None
        made = self._factory(given)
        if inspect.isawaitable(made):
            made = await made
        if isinstance(made, AbstractAsyncContextManager):
            async with made as inner:
                yield self._checked(inner)
        elif isinstance(made, AbstractContextManager) and to_graph(made) is None:
            with made as inner:
                yield self._checked(inner)
        else:
            yield self._checked(made)

    def _checked(self, made: Any) -> AnyGraph:
        graph = to_graph(made)
        if graph is None:
            raise GraphError(
                f"The function {self._path} returned {_describe(made)}, not a LangGraph graph. {_EXPECTED}"
            )
        # known only now, and the same for each call
        if self._is_first:
            for note in _replaced_parts(graph):
                print(f"Graph {self._path}: {note}", file=sys.stderr, flush=True)
        self._is_first = False
        return graph


def to_graph(value: Any) -> AnyGraph | None:
    """Returns the compiled graph of a graph or a builder; None for anything else."""
    if isinstance(value, Pregel):
        return typing.cast(AnyGraph, value)
    compile_graph = getattr(value, "compile", None)
    if callable(compile_graph) and hasattr(value, "add_node") and not isinstance(value, type):
        compiled = compile_graph()
        return typing.cast(AnyGraph, compiled) if isinstance(compiled, Pregel) else None
    return None


def _replaced_parts(graph: AnyGraph) -> list[str]:
    parts = {"checkpointer": graph.checkpointer, "store": graph.store}
    return [
        f"its own {name} ({type(part).__name__}) is not used, because the server provides one that keeps its data in "
        "Heddle's database."
        for name, part in parts.items()
        if part is not None and not isinstance(part, bool)
    ]


def _call_with(factory: Callable[..., Any], path: str) -> Callable[[OpenInput], Any]:
    """Returns a caller that passes the config or the runtime, as the factory's parameters ask for."""
    try:
        parameters = list(inspect.signature(factory).parameters.values())
    except (TypeError, ValueError):
        return lambda given: factory(given.config)
    required = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    keyword_only = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    try:
        hints = typing.get_type_hints(inspect.unwrap(factory))
    except Exception:
        hints = {}

    roles: list[str] = []
    used: list[inspect.Parameter] = []
    for parameter in required:
        role = _role(parameter, hints, len(required))
        if role is None:
            if parameter.default is parameter.empty:
                raise GraphError(
                    f'{path}: the parameter "{parameter.name}" is unknown; a graph factory takes config and runtime.'
                )
            break
        roles.append(role)
        used.append(parameter)
    named = {p.name: role for p in keyword_only if (role := _role(p, hints, 2))}

    def call(given: OpenInput) -> Any:
        values = {"config": given.config}
        if "runtime" in roles or "runtime" in named.values():
            values["runtime"] = _server_runtime(given)
        return factory(*(values[role] for role in roles), **{name: values[role] for name, role in named.items()})

    return call


def _role(parameter: inspect.Parameter, hints: dict[str, Any], count: int) -> str | None:
    hint = str(hints.get(parameter.name, parameter.annotation))
    if "Runtime" in hint or (parameter.name == "runtime" and "RunnableConfig" not in hint):
        return "runtime"
    if "RunnableConfig" in hint or parameter.name == "config":
        return "config"
    # the only parameter, without a known name or type, has always been the config
    return "config" if count == 1 and parameter.default is parameter.empty else None


def _server_runtime(given: OpenInput) -> Any:
    user = (given.config.get("configurable") or {}).get("langgraph_auth_user")
    try:
        from langgraph_sdk import runtime
    except ImportError:
        raise GraphError("This graph factory takes a runtime; install langgraph-sdk 0.3.5 or newer.") from None
    if given.access == "threads.create_run":
        kind = getattr(runtime, "_ExecutionRuntime")  # noqa: B009
        return kind(access_context=given.access, user=user, store=given.store, context=given.context)
    kind = getattr(runtime, "_ReadRuntime")  # noqa: B009
    return kind(access_context=given.access, user=user, store=given.store)


def _describe(value: Any) -> str:
    return "None" if value is None else f"an object of class {type(value).__name__}"
