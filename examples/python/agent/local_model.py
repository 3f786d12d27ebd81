"""A chat model without a network: the same conversation always gets the same answer, streamed token by token like a
provider's, including tool calls."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    CallbackManagerForLLMRun,
)
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable


class LocalModel(BaseChatModel):
    token_delay_ms: float = 10

    @property
    def _llm_type(self) -> str:
        return "local"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, Any]:
        return self.bind(tools=[tool.name for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        first, *rest = chunks(messages, set(kwargs.get("tools", ())))
        whole = first
        for chunk in rest:
            whole = whole + chunk
        return ChatResult(generations=[ChatGeneration(message=whole)])

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for message in chunks(messages, set(kwargs.get("tools", ()))):
            await asyncio.sleep(self.token_delay_ms / 1000)
            chunk = ChatGenerationChunk(message=message)
            if run_manager:
                await run_manager.on_llm_new_token(str(message.content), chunk=chunk)
            yield chunk


def chunks(messages: list[BaseMessage], tools: set[str]) -> list[AIMessageChunk]:
    text, calls = decide_reply(messages, tools)
    # a word with its leading blank, like a tokenizer's tokens
    words = re.findall(r"\s*\S+", text)
    parts = [AIMessageChunk(content=word) for word in words]
    for index, (name, args) in enumerate(calls):
        call: Any = {"name": name, "args": json.dumps(args), "id": f"call_{len(messages)}_{index}", "index": index}
        parts.append(AIMessageChunk(content="", tool_call_chunks=[{**call, "type": "tool_call_chunk"}]))
    read = sum(len(str(message.content).split()) for message in messages)
    written = len(words) + 3 * len(calls)
    parts.append(
        AIMessageChunk(
            content="",
            response_metadata={"model_name": "local", "finish_reason": "tool_calls" if calls else "stop"},
            usage_metadata={"input_tokens": read, "output_tokens": written, "total_tokens": read + written},
        )
    )
    return parts


Reply = tuple[str, list[tuple[str, dict[str, str]]]]


def decide_reply(messages: list[BaseMessage], tools: set[str]) -> Reply:
    """Decides the reply from the last question, the tools' answers and the earlier messages."""
    answers: list[str] = []
    for message in reversed(messages):
        if message.type != "tool":
            break
        answers.insert(0, str(message.content))
    if answers:
        return " ".join(answers), []
    human = [str(message.content) for message in messages if message.type == "human"]
    asked = human[-1] if human else ""
    calls = [call for call in tool_calls(asked) if call[0] in tools]
    if calls:
        return "Let me look that up.", calls
    names = [found[1] for text in human if (found := re.search(r"\bmy name is\s+(\w[\w'-]*)", text, re.IGNORECASE))]
    if re.search(r"\bwhat(?:'s| is) my name\b|\bwho am i\b", asked, re.IGNORECASE):
        return (f"Your name is {names[-1]}." if names else "You have not told me your name yet."), []
    if re.search(r"\bmy name is\b", asked, re.IGNORECASE) and names:
        return f"Nice to meet you, {names[-1]}.", []
    if re.match(r"(hi|hello|hey)\b", asked, re.IGNORECASE):
        return "Hello! Ask me for the weather in a city, or what 17 * 23 is.", []
    return f"You said: {asked}", []


def tool_calls(asked: str) -> list[tuple[str, dict[str, str]]]:
    if places := re.search(r"\bweather\b.*?\b(?:in|for|at)\s+([^?.!]+)", asked, re.IGNORECASE):
        cities = [city for city in re.split(r"\s*(?:,|\band\b)\s*", places[1]) if city]
        return [("get_weather", {"city": city}) for city in cities]
    if expression := re.search(r"[-+(]?\s*\d[\d\s.()]*(?:[-+*/]\s*[-(]*\s*\d[\d\s.()]*)+", asked):
        return [("calculate", {"expression": expression[0].strip()})]
    return []
