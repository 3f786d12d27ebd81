import asyncio

from langgraph.func import entrypoint, task
from langgraph.types import interrupt


@task
async def price(nights: int) -> int:
    await asyncio.sleep(0.01)
    return nights * 80


@entrypoint()
async def workflow(inputs: dict[str, int]) -> dict[str, int]:
    prices = await asyncio.gather(price(inputs["nights"]), price(1))
    factor = interrupt({"prices": prices})
    return {"total": sum(prices) * factor}
