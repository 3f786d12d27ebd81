"""A crew of CrewAI with OpenInference's instrumentations, or with Traceloop's (SAMPLE_WITH=traceloop)."""

import os
from contextlib import nullcontext

from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool

created = None
session = nullcontext()
if os.environ.get("SAMPLE_WITH") == "traceloop":
    from traceloop.sdk import Traceloop

    Traceloop.init(
        app_name="shop",
        api_endpoint=os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"],
        headers={},
        telemetry_enabled=False,
    )
else:
    from common import provider
    from openinference.instrumentation import using_session
    from openinference.instrumentation.crewai import CrewAIInstrumentor
    from openinference.instrumentation.openai import OpenAIInstrumentor

    created = provider()
    CrewAIInstrumentor().instrument(tracer_provider=created, skip_dep_check=True)
    OpenAIInstrumentor().instrument(tracer_provider=created)
    session = using_session("thread-5")


@tool("get_weather")
def get_weather(city: str) -> str:
    """Returns the weather of a city."""
    return f"7 degrees in {city}"


agent = Agent(
    role="Reporter",
    goal="Report the weather",
    backstory="Knows it.",
    llm=LLM(model="openai/gpt-4o-mini"),
    tools=[get_weather],
)
task = Task(description="How warm is it in Oslo?", expected_output="One sentence", agent=agent)
with session:
    Crew(agents=[agent], tasks=[task], tracing=False).kickoff()
if created:
    created.shutdown()
