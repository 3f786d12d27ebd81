from agents import get_weather
from deepagents import create_deep_agent
from deepagents.backends import CompositeBackend, StateBackend, StoreBackend
from langchain.agents.middleware import TodoListMiddleware
from model import ScriptedModel

# Files are part of the state, those below /memories/ of the store.
graph = create_deep_agent(
    model=ScriptedModel(),
    tools=[],
    middleware=[TodoListMiddleware()],
    subagents=[
        {
            "name": "reporter",
            "description": "Reports the weather",
            "system_prompt": "Report.",
            "tools": [get_weather],
        }
    ],
    backend=CompositeBackend(
        default=StateBackend(), routes={"/memories/": StoreBackend(namespace=lambda runtime: ("memories",))}
    ),
)
