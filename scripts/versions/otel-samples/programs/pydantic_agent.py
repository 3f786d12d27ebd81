"""Pydantic AI's own instrumentation. SAMPLE_VERSION chooses the version of its format."""

import os

from common import MODEL, PIXEL, provider
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.agent import InstrumentationSettings
from pydantic_ai.models.openai import OpenAIChatModel

import base64

created = provider()
Agent.instrument_all(InstrumentationSettings(version=int(os.environ["SAMPLE_VERSION"])))
agent = Agent(OpenAIChatModel(MODEL), name="weather", system_prompt="Answer in one sentence.")


@agent.tool_plain
def get_weather(city: str) -> str:
    """Returns the weather of a city."""
    return f"7 degrees in {city}"


agent.run_sync(["How warm is it in Oslo?", BinaryContent(base64.b64decode(PIXEL), media_type="image/png")])
created.shutdown()
