"""Metadata of a checkpoint as it is stored: LangGraph's own, the config's, and the run's id."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointMetadata

from .. import json_text
from ..serialize import to_json

# Keys that describe the checkpoint itself and are never overridden.
_OWN_METADATA = ("source", "step", "parents", "counters_since_delta_snapshot")
_TASK_METADATA = frozenset(
    (
        "checkpoint_id",
        "checkpoint_ns",
        "checkpoint_map",
        "langgraph_step",
        "langgraph_node",
        "langgraph_triggers",
        "langgraph_path",
        "langgraph_checkpoint_ns",
    )
)

#: Users as a project's authentication returned them: they may hold credentials. Their ids stay.
USER_OBJECTS = frozenset(("langgraph_auth_user", "heddle_answering_user"))


def metadata_text(config: RunnableConfig, metadata: CheckpointMetadata, run_id: str | None) -> bytes:
    """Returns the JSON text of the metadata of a checkpoint that a run, or a caller without one, puts."""
    own: dict[str, Any] = dict(metadata)
    merged = dict(own)
    if config.get("metadata") or run_id:
        # a copied checkpoint's metadata may name the run that made the original
        merged.pop("run_id", None)
        sources = (config.get("configurable"), config.get("metadata")) if run_id else (config.get("metadata"),)
        for source in sources:
            for name, value in (source or {}).items():
                if not name.startswith("__") and name not in _TASK_METADATA:
                    merged[name] = value
        for name in USER_OBJECTS:
            merged.pop(name, None)
        if run_id:
            merged["run_id"] = run_id
        for name in _OWN_METADATA:
            if name in own:
                merged[name] = own[name]
    try:
        return json_text.storable(json_text.dumps(merged))
    except (TypeError, ValueError):
        return json_text.storable(to_json(merged))
