from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool

from shared.texts import sign


@tool
def send_mail(to: str) -> str:
    """Sends a mail."""
    return sign(f"sent to {to}")


@asynccontextmanager
async def make_graph(config: RunnableConfig) -> AsyncIterator[Any]:
    prompt = (config.get("configurable") or {}).get("prompt", "You help customers.")
    middleware = [HumanInTheLoopMiddleware(interrupt_on={"send_mail": True})]
    yield create_agent("openai:gpt-4.1-mini", tools=[send_mail], system_prompt=prompt, middleware=middleware)
