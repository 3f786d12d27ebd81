from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, AgentState, HumanInTheLoopMiddleware
from langchain_core.tools import tool
from model import ScriptedModel


@tool
def get_weather(city: str) -> str:
    """The weather of a city"""
    return f"sunny in {city}"


class CountState(AgentState, total=False):
    calls: int


class CountCalls(AgentMiddleware):
    """Counts the calls of the model in the state."""

    state_schema = CountState

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any]:
        return {"calls": state.get("calls", 0) + 1}


agent = create_agent(ScriptedModel(), [get_weather], middleware=[CountCalls()])
guarded = create_agent(
    ScriptedModel(),
    [get_weather],
    middleware=[HumanInTheLoopMiddleware(interrupt_on={"get_weather": True})],
)
