"""OpenInference's instrumentation of LangChain, with an agent of LangGraph."""

from common import MODEL, provider
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent
from openinference.instrumentation import using_session
from openinference.instrumentation.langchain import LangChainInstrumentor

created = provider()
LangChainInstrumentor().instrument(tracer_provider=created)


@tool
def get_weather(city: str) -> str:
    """Returns the weather of a city."""
    return f"7 degrees in {city}"


agent = create_react_agent(ChatOpenAI(model=MODEL), [get_weather], name="weather")
with using_session("thread-2"):
    agent.invoke({"messages": [("user", "How warm is it in Oslo?")]}, {"metadata": {"team": "blue"}})
created.shutdown()
