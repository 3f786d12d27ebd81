"""LangGraph's input and config of a run."""

from __future__ import annotations

import os
import re
from typing import Any
from uuid import UUID

from ..calls.update_state import to_command
from ..frames import RunStart

RESUMING = "__pregel_resuming"
_INTERRUPT_ID = re.compile(r"[0-9a-f]{32}")
_CHECKPOINT_KEYS = ("checkpoint_id", "checkpoint_ns", "checkpoint_map")


def run_config(start: RunStart, kwargs: dict[str, Any], langgraph_version: str) -> dict[str, Any]:
    given: dict[str, Any] = kwargs["config"]
    api_url = os.environ.get("LANGGRAPH_API_URL")
    config: dict[str, Any] = {
        "configurable": {
            **public_configurable(given.get("configurable")),
            "thread_id": start["thread_id"],
            "run_id": start["run_id"],
            "graph_id": start["graph_id"],
            "assistant_id": start["assistant_id"],
        },
        # stored in every checkpoint of the run (contract agent-server, section 6)
        "metadata": {
            **(kwargs.get("trace") or {}),
            **(given.get("metadata") or {}),
            "run_attempt": start["attempt"],
            "langgraph_version": langgraph_version,
            "langgraph_plan": "developer",
            "langgraph_host": "self-hosted",
            **({"langgraph_api_url": api_url} if api_url else {}),
        },
        "run_id": UUID(start["run_id"]),
    }
    for name in ("tags", "recursion_limit", "max_concurrency", "run_name"):
        if given.get(name) is not None:
            config[name] = given[name]
    return config


def stream_options(kwargs: dict[str, Any], context: Any) -> dict[str, Any]:
    """Returns the keyword arguments of `astream` without those that have no value, which would hide the graph's own."""
    options: dict[str, Any] = {"durability": kwargs.get("durability") or "sync"}
    given = {"context": context, **{name: kwargs.get(name) for name in ("interrupt_before", "interrupt_after")}}
    for name, value in given.items():
        if value is not None:
            options[name] = value
    return options


def public_configurable(configurable: dict[str, Any] | None) -> dict[str, Any]:
    """Removes what callers may not configure: LangGraph's own keys, and checkpoint keys without a value.

    The exception is RESUMING, which a remote graph sends as the node of a graph that is resumed.
    """
    return {
        key: value
        for key, value in (configurable or {}).items()
        if (not key.startswith("__pregel_") or (key == RESUMING and value is True))
        and not (key.startswith("checkpoint_") and value is None)
    }


def is_resuming(config: dict[str, Any]) -> bool:
    """Whether the run continues at the thread's checkpoint, although its caller has sent the input again."""
    return config["configurable"].get(RESUMING) is True


def without_checkpoint(config: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in config["configurable"].items() if key not in _CHECKPOINT_KEYS}
    return {**config, "configurable": kept}


def run_input(kwargs: dict[str, Any]) -> Any:
    """Returns LangGraph's input. None means: continue from the checkpoint."""
    command = kwargs.get("command")
    return to_command(command) if command else kwargs.get("input")


class NoAnswersLeft(Exception):
    """An earlier attempt has used up every answer."""


def named_resume(kwargs: dict[str, Any]) -> dict[str, Any] | None:
    """Returns the command with its resume value keyed by the ids of the interrupts that it answers.

    By id an answer reaches only the interrupts it was bound to: LangGraph stores a plain value with the checkpoint, and
    passes it to every task that interrupts later. None where ids are unknown; raises NoAnswersLeft.
    """
    command = kwargs.get("command")
    questions = kwargs.get("questions") or {}
    bound, still_open = questions.get("bound"), questions.get("open")
    if not command or command.get("resume") is None or bound is None or still_open is None:
        return None
    if not bound or not all(_INTERRUPT_ID.fullmatch(key) for key in bound):
        return None
    if not still_open:
        raise NoAnswersLeft
    resume = command["resume"]
    by_id = isinstance(resume, dict) and bool(resume) and all(_INTERRUPT_ID.fullmatch(str(key)) for key in resume)
    return {**command, "resume": {key: resume.get(key) if by_id else resume for key in still_open}}
