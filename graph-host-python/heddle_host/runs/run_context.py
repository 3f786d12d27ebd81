"""A run's configuration as `configurable` and as `context`.

Clients and graphs know either: `context` replaced `configurable` in LangGraph 0.6. As with LangGraph's Python server,
each gets what was given as the other.
"""

from __future__ import annotations

from typing import Any

Fields = dict[str, Any]

# Set by the server and by LangGraph: no settings of the graph.
_RESERVED = frozenset(("thread_id", "run_id", "graph_id", "assistant_id", "langsmith_project", "langsmith_example_id"))
_RESERVED_PREFIXES = ("__", "checkpoint_", "langgraph_", "heddle_")


def with_both(kwargs: Fields) -> Fields:
    """Returns kwargs whose `configurable` and `context` have the settings of both.

    A key in both keeps its two values, unless the run has set one of them and the other is the assistant's or thread's.
    """
    config: Fields = kwargs["config"]
    configurable: Fields = dict(config.get("configurable") or {})
    context: Any = kwargs.get("context")
    if context is None:
        context = {}
    if not isinstance(context, dict):
        return kwargs
    context = {**context}
    given: Fields = kwargs.get("given") or {}
    by_run: dict[str, set[str]] = {name: set(given.get(name) or ()) for name in ("configurable", "context", "headers")}
    for key in dict.fromkeys((*configurable, *context)):
        if _is_reserved(key) or key in by_run["headers"]:
            continue
        if key not in configurable or (key in context and key in by_run["context"] - by_run["configurable"]):
            configurable[key] = context[key]
        elif key not in context or key in by_run["configurable"] - by_run["context"]:
            context[key] = configurable[key]
    return {**kwargs, "config": {**config, "configurable": configurable}, "context": context}


def fit_context(graph: Any, kwargs: Fields, configurable: Fields) -> Any:
    """Returns the context with the fields of the graph's schema only: a dataclass accepts no others.

    What the run has given as context for another graph is removed from `configurable`, too.
    """
    context = kwargs.get("context")
    if not isinstance(context, dict):
        return context
    try:
        schema: Fields | None = graph.get_context_jsonschema()
    except Exception:
        return context
    fields = (schema or {}).get("properties")
    if not fields:
        return context
    by_run: Fields = kwargs.get("given") or {}
    for key in context.keys() - fields.keys():
        if key in (by_run.get("context") or ()) and key not in (by_run.get("configurable") or ()):
            configurable.pop(key, None)
    return {key: value for key, value in context.items() if key in fields}


def _is_reserved(key: str) -> bool:
    return key in _RESERVED or key.startswith(_RESERVED_PREFIXES)
