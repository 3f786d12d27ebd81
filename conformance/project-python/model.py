import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.outputs.chat_generation import ChatGeneration


class RuleModel(BaseChatModel):
    """Answers by rule and streams token by token, so that a test knows every frame.

    "weather in X" calls the tool `get_weather`; a tool's answer is repeated; anything else is echoed.
    """

    @property
    def _llm_type(self) -> str:
        return "rule"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: Any = None,
        run_manager: Any = None,
        **_: Any,
    ) -> ChatResult:
        whole = None
        for message in _reply(messages):
            whole = message if whole is None else whole + message
        return ChatResult(generations=[ChatGeneration(message=whole)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: Any = None,
        run_manager: Any = None,
        **_: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for message in _reply(messages):
            yield ChatGenerationChunk(message=message)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: Any = None,
        run_manager: Any = None,
        delay: float = 0,
        **_: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for message in _reply(messages):
            if delay:
                await asyncio.sleep(delay / 1000)
            chunk = ChatGenerationChunk(message=message)
            if run_manager:
                await run_manager.on_llm_new_token(str(message.content), chunk=chunk)
            yield chunk


def _reply(messages: list[BaseMessage]) -> list[AIMessageChunk]:
    last = messages[-1]
    text = str(last.content)
    found = re.search(r"weather in (\w+)", text) if last.type == "human" else None
    if found:
        parts = [{"name": "get_weather", "args": "", "id": f"call_{len(messages)}"}]
        parts += [{"args": '{"city":'}, {"args": f'"{found[1]}"}}'}]
        return [
            AIMessageChunk(
                content="",
                tool_call_chunks=[
                    {
                        "name": None,
                        "id": None,
                        **part,
                        "index": 0,
                        "type": "tool_call_chunk",
                    }  # type: ignore[typeddict-item]
                ],
            )
            for part in parts
        ]
    if text == "say what Postgres rejects":
        return [
            AIMessageChunk(content="nul \0 "),
            AIMessageChunk(content="half \ud800"),
        ]
    answer = f"The tool says: {text}" if last.type == "tool" else f"You said: {text}"
    return [AIMessageChunk(content=part) for part in re.split(r"(?<= )", answer)]
