"""Traceloop's SDK (OpenLLMetry) with OpenAI's client and its decorators."""

import os

from common import chat
from openai import OpenAI
from traceloop.sdk import Traceloop
from traceloop.sdk.decorators import task, tool, workflow

Traceloop.init(
    app_name="shop",
    api_endpoint=os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"],
    headers={},
    disable_batch=False,
    telemetry_enabled=False,
)


@tool(name="get_weather")
def get_weather(city: str) -> str:
    return f"7 degrees in {city}"


@task(name="ask")
def ask(question: str) -> str:
    get_weather("Oslo")
    chat(OpenAI())
    return "done"


@workflow(name="answers")
def answers(question: str) -> str:
    Traceloop.set_association_properties({"session_id": "thread-3", "user_id": "u-1"})
    return ask(question)


answers("How warm is it in Oslo?")
