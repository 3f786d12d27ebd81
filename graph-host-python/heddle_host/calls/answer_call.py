"""Dispatch of calls: opens the graph, binds the saver that the method needs, and leaves the graph afterwards."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from .call_host import AnyGraph, AnySaver, CallHost
from .describe_graph import read_drawing, read_schemas, read_subgraphs
from .errors import CallError
from .read_state import read_history, read_state
from .update_state import update_state

Params = dict[str, Any]


class _Method(NamedTuple):
    access: str
    answer: Callable[[AnyGraph, Params], Awaitable[Any]]


_METHODS = {
    "graph.schemas": _Method("assistants.read", read_schemas),
    "graph.drawing": _Method("assistants.read", read_drawing),
    "graph.subgraphs": _Method("assistants.read", read_subgraphs),
    "state.get": _Method("threads.read", read_state),
    "state.history": _Method("threads.read", read_history),
    "state.update": _Method("threads.update", update_state),
}


async def answer_call(host: CallHost, name: str, params: Params) -> Any:
    method = _METHODS.get(name)
    if method is None:
        raise CallError(501, "UnknownCall", f'This host does not know the call "{name}"')
    async with host.open_graph(params["graph_id"], params.get("config") or {}, method.access) as graph:
        return await method.answer(bind_graph(graph, _saver(host, name, params), host), params)


def _saver(host: CallHost, name: str, params: Params) -> AnySaver:
    if name != "state.update":
        return host.savers.reading()
    return host.savers.unfenced() if params.get("creates") is True else host.savers.guarded()


def bind_graph(graph: AnyGraph, saver: AnySaver, host: CallHost) -> AnyGraph:
    """Returns the graph with the call's saver and store. The user's object is not changed."""
    bound = copy.copy(graph)
    bound.checkpointer = saver
    bound.store = host.store
    return bound
