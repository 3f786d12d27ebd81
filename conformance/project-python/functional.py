from typing import Any

from langgraph.func import entrypoint, task
from langgraph.types import interrupt


@task
async def double(n: int) -> int:
    return n * 2


# The functional API: a task, and a question to a human.
@entrypoint()
async def graph(given: dict[str, Any]) -> dict[str, Any]:
    doubled = await double(given["n"])
    return {"doubled": doubled, "answer": interrupt("sure?")}
