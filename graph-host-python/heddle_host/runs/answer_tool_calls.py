"""Results for tool calls that were stopped.

A run that is cancelled, fails or is abandoned while its tools work leaves an AI message whose tool calls have no
result, and model providers reject such a conversation. New input then adds a result for each call, before its own
messages and through the graph's own reducer.
"""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage


async def answer_tool_calls(graph: Any, head: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Adds results for the open tool calls of `head`, a checkpoint that nodes would have followed, to the input."""
    # by id, so that writes that the input will discard are not shown as written
    state = await graph.aget_state(head.config)
    values = state.values
    fields = values.items() if isinstance(values, dict) else vars(values).items() if hasattr(values, "__dict__") else ()
    answered = dict(given)
    for key, messages in fields:
        own = given.get(key)
        own_messages = own if isinstance(own, list) else [] if own is None else [own]
        calls = [call for call in _open_calls(messages) if not any(_is_result(m, call["id"]) for m in own_messages)]
        if not calls:
            continue
        finished: list[Any] = []
        for _, channel, value in head.pending_writes or ():
            if channel == key:
                finished += value if isinstance(value, list) else [value]
        results = [next((m for m in finished if _is_result(m, call["id"])), None) or _stopped(call) for call in calls]
        answered[key] = [*results, *own_messages]
    return answered


def _open_calls(messages: Any) -> list[Any]:
    """Returns the tool calls of the last AI message without a result; none where other messages follow it."""
    if not isinstance(messages, list):
        return []
    done: set[str] = set()
    for message in reversed(messages):
        if not isinstance(message, BaseMessage):
            return []
        if isinstance(message, ToolMessage):
            done.add(message.tool_call_id)
        elif isinstance(message, AIMessage):
            return [call for call in message.tool_calls if call.get("id") and call["id"] not in done]
        else:
            return []
    return []


def _is_result(message: Any, call_id: str | None) -> bool:
    found = message.get("tool_call_id") if isinstance(message, dict) else getattr(message, "tool_call_id", None)
    return found is not None and found == call_id


def _stopped(call: Any) -> ToolMessage:
    content = f'No result: the call to "{call["name"]}" was stopped before it returned.'
    return ToolMessage(content, tool_call_id=call["id"], name=call["name"], status="error")
