import json
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

CALLS: list[tuple[str, Any]] = [
    (r"^delegate (.+)", lambda found: ("task", {"description": found[1], "subagent_type": "reporter"})),
    (r"^plan (.+)", lambda found: ("write_todos", {"todos": [{"content": found[1], "status": "pending"}]})),
    (r"^write notes", lambda _: ("write_file", {"file_path": "/notes.md", "content": "remember the milk"})),
    (r"^read notes", lambda _: ("read_file", {"file_path": "/notes.md"})),
    (r"^keep secret", lambda _: ("write_file", {"file_path": "/memories/secret.md", "content": "remember the milk"})),
    (r"^recall secret", lambda _: ("read_file", {"file_path": "/memories/secret.md"})),
    (r"weather in (\w+)", lambda found: ("get_weather", {"city": found[1]})),
]


class ScriptedModel(BaseChatModel):
    """Calls tools by rule and repeats a tool's answer, word by word; no key, and deterministic."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> "ScriptedModel":
        return self

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        whole = None
        for message in reply(messages):
            whole = message if whole is None else whole + message
        assert whole is not None
        return ChatResult(generations=[ChatGeneration(message=whole)])

    def _stream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> Iterator[ChatGenerationChunk]:
        for message in reply(messages):
            yield ChatGenerationChunk(message=message)

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for message in reply(messages):
            yield ChatGenerationChunk(message=message)


def reply(messages: list[BaseMessage]) -> list[AIMessageChunk]:
    last = messages[-1]
    text = last.text if isinstance(last.text, str) else last.text()
    for pattern, call in CALLS if last.type == "human" else ():
        chunks: list[Any] = []
        for found in re.finditer(pattern, text):
            name, args = call(found)
            call_id = f"call_{len(messages)}_{len(chunks)}"
            chunk = {"name": name, "args": json.dumps(args), "id": call_id, "index": len(chunks)}
            chunks.append({**chunk, "type": "tool_call_chunk"})
        if chunks:
            return [AIMessageChunk(content="", tool_call_chunks=chunks)]
    answer = f"The tool says: {text}" if last.type == "tool" else f"You said: {text}"
    return [AIMessageChunk(content=part) for part in re.split(r"(?<= )", answer)]
