"""Schemas and drawings of graphs, as the official Python server derives them."""

from __future__ import annotations

import sys
import typing
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pydantic import BaseModel, TypeAdapter, create_model

from .call_host import AnyGraph
from .errors import CallError

Schema = dict[str, Any]

# what LangGraph adds to the `configurable` of a graph
_OWN_KEYS = ("__pregel_resuming", "__pregel_checkpoint_id", "checkpoint_id", "checkpoint_map", "checkpoint_ns")
_OWN_KEYS += ("thread_id", "user_id")


async def read_schemas(graph: AnyGraph, params: dict[str, Any]) -> dict[str, Any]:
    return {"graph_id": params["graph_id"], **graph_schemas(graph)}


async def read_subgraphs(graph: AnyGraph, params: dict[str, Any]) -> dict[str, Any]:
    """Returns the subgraphs' schemas keyed by namespace, nested ones joined by `|`."""
    found: dict[str, Any] = {}
    namespace = params.get("namespace")
    async for name, subgraph in graph.aget_subgraphs(namespace=namespace, recurse=params.get("recurse") is True):
        schemas = graph_schemas(subgraph)
        # JavaScript clients know these by short names
        short = {kind: schemas[f"{kind}_schema"] for kind in ("state", "input", "output", "config")}
        found[name] = {**short, **schemas}
    return found


async def read_drawing(graph: AnyGraph, params: dict[str, Any]) -> dict[str, Any]:
    try:
        drawing = await graph.aget_graph(params.get("config") or None, xray=params.get("xray") or False)
    except NotImplementedError:
        raise CallError(422, "NotImplementedError", "The graph does not support visualization") from None
    drawn: dict[str, Any] = drawing.to_json()
    nodes = [_node(node) for node in drawn["nodes"]]
    return {"nodes": nodes, "edges": [{"conditional": False, **edge} for edge in drawn["edges"]]}


def _node(node: dict[str, Any]) -> dict[str, Any]:
    # the ids of nodes are strings in clients' types
    return {**node, "id": str(node["id"])}


def graph_schemas(graph: Any) -> dict[str, Any]:
    """Returns the JSON Schemas of a graph. A schema that cannot be derived is null, so that the others survive."""
    with warnings.catch_warnings(), _typed_dicts():
        # methods that older versions of LangGraph need are deprecated in newer ones
        warnings.simplefilter("ignore")
        return {
            "input_schema": _attempt(lambda: graph.get_input_jsonschema()),
            "output_schema": _attempt(lambda: graph.get_output_jsonschema()),
            "state_schema": _attempt(lambda: _state_schema(graph)),
            "config_schema": _attempt(lambda: _configurable_schema(graph)),
            "context_schema": _attempt(lambda: graph.get_context_jsonschema()),
        }


@contextmanager
def _typed_dicts() -> Iterator[None]:
    """Makes pydantic describe `typing.TypedDict`, which it rejects before Python 3.12.

    It cannot validate inherited keys there, but describes them. It recognizes the class by its metaclass's module.
    """
    meta = getattr(typing, "_TypedDictMeta", None)
    if sys.version_info >= (3, 12) or meta is None:
        yield
        return
    module: str = meta.__module__
    meta.__module__ = "typing_extensions"
    try:
        yield
    finally:
        meta.__module__ = module


def _attempt(derive: Callable[[], Schema | None]) -> Schema | None:
    try:
        return derive()
    except Exception:
        return None


def _state_schema(graph: Any) -> Schema:
    fields: dict[str, Any] = {}
    names: list[str] = list(graph.stream_channels_list)
    for name in names:
        update_type = graph.channels[name].UpdateType
        known = _attempt(lambda name=name, type=update_type: _model(name, {name: (type, None)}).model_json_schema())
        fields[name] = (Any if known is None else update_type, None)
    return _model(graph.get_name("State"), fields).model_json_schema()


def _model(name: str, fields: dict[str, Any]) -> type[BaseModel]:
    return create_model(name, **fields)


def _configurable_schema(graph: Any) -> Schema:
    """Returns the schema of `configurable` alone: the config's other keys are the same for all graphs."""
    fields = graph.config_schema().model_fields
    if "configurable" not in fields:
        return {}
    schema = TypeAdapter[Any](fields["configurable"].annotation).json_schema()
    for key in _OWN_KEYS:
        schema.get("properties", {}).pop(key, None)
    declared = getattr(graph, "config_type", None) or getattr(graph, "context_schema", None)
    if isinstance(declared, type):
        schema["title"] = declared.__name__
    return schema
