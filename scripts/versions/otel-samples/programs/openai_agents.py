"""OpenAI's Agents SDK with OpenInference's instrumentation, or with Traceloop's (SAMPLE_WITH=traceloop)."""

import os

from agents import Agent, Runner, function_tool, trace

if os.environ.get("SAMPLE_WITH") == "traceloop":
    from traceloop.sdk import Traceloop

    Traceloop.init(
        app_name="shop",
        api_endpoint=os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"],
        headers={},
        telemetry_enabled=False,
    )
    created = None
else:
    from common import provider
    from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

    created = provider()
    OpenAIAgentsInstrumentor().instrument(tracer_provider=created)


@function_tool
def get_weather(city: str) -> str:
    """Returns the weather of a city."""
    return f"7 degrees in {city}"


agent = Agent(name="weather", instructions="Answer in one sentence.", model="gpt-4o-mini", tools=[get_weather])
with trace("answers", group_id="thread-4", metadata={"team": "blue"}):
    Runner.run_sync(agent, "How warm is it in Oslo?")
if created:
    created.shutdown()
