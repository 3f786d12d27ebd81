"""Events of mode `messages` (contract agent-server, section 8).

`messages/metadata` once before the first token of a message, `messages/partial` with the message so far at each token,
`messages/complete` once for each message that appears in the state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import BaseMessage, BaseMessageChunk, message_chunk_to_message


class MessageEvents:
    def __init__(self, emit: Callable[[str, Any], None]) -> None:
        self._emit = emit
        self._partial: dict[str, BaseMessageChunk] = {}
        self._completed: set[str] = set()

    def token(self, message: BaseMessage, metadata: dict[str, Any]) -> None:
        # Whole messages that nodes return also pass here, with the node's metadata instead of the model's. They are
        # complete once the state contains them.
        if not message.id or not isinstance(message, BaseMessageChunk) or "ls_model_type" not in metadata:
            return
        before = self._partial.get(message.id)
        now: Any = before + message if before else message
        self._partial[message.id] = now
        if not before:
            self._emit("messages/metadata", {message.id: {"metadata": metadata}})
        elif _adds_nothing(message):
            return
        self._emit("messages/partial", [message_chunk_to_message(now)])

    def values(self, state: Any) -> None:
        messages = state.get("messages") if isinstance(state, dict) else getattr(state, "messages", None)
        if messages is None:
            return
        fresh = [m for m in (messages if isinstance(messages, list) else [messages]) if self._is_fresh(m)]
        if fresh:
            self._emit("messages/complete", fresh)

    def _is_fresh(self, message: Any) -> bool:
        message_id = message.get("id") if isinstance(message, dict) else getattr(message, "id", None)
        if not isinstance(message_id, str) or message_id in self._completed:
            return False
        self._completed.add(message_id)
        self._partial.pop(message_id, None)
        return True


def _adds_nothing(chunk: Any) -> bool:
    """Whether a chunk only marks the end of a message."""
    return not (
        chunk.content
        or chunk.additional_kwargs
        or chunk.response_metadata
        or getattr(chunk, "tool_call_chunks", None)
        or getattr(chunk, "usage_metadata", None)
    )
