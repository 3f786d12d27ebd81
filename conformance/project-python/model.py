"""Answers by rule and streams token by token, so that a test knows every frame. "weather in X" calls the tool
``get_weather``; a tool's answer is repeated; anything else is echoed."""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult


class RuleModel(BaseChatModel):
    delay: float = 0
    """Pause before each token, in milliseconds."""

    @property
    def _llm_type(self) -> str:
        return "rule"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        whole = None
        for piece in reply(messages):
            whole = piece if whole is None else whole + piece
        return ChatResult(generations=[ChatGeneration(message=whole)])

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for message in reply(messages):
            if self.delay:
                await asyncio.sleep(self.delay / 1000)
            chunk = ChatGenerationChunk(message=message)
            if run_manager:
                await run_manager.on_llm_new_token(str(message.content), chunk=chunk)
            yield chunk


def reply(messages: list[BaseMessage]) -> list[AIMessageChunk]:
    last = messages[-1] if messages else None
    text = str(last.content) if last else ""
    city = re.search(r"weather in (\w+)", text) if last and last.type == "human" else None
    if city:
        call = {"name": None, "id": None, "index": 0, "type": "tool_call_chunk"}
        return [
            AIMessageChunk(
                content="",
                tool_call_chunks=[
                    {**call, "name": "get_weather", "args": "", "id": f"call_{len(messages)}"},
                ],
            ),
            AIMessageChunk(content="", tool_call_chunks=[{**call, "args": '{"city":'}]),
            AIMessageChunk(content="", tool_call_chunks=[{**call, "args": f'"{city[1]}"}}'}]),
        ]
    if text == "say what Postgres refuses":
        return [AIMessageChunk(content="nul \u0000 "), AIMessageChunk(content="half \ud800")]
    answer = f"The tool says: {text}" if last and last.type == "tool" else f"You said: {text}"
    return [AIMessageChunk(content=part) for part in re.findall(r"[^ ]* ?", answer) if part]
