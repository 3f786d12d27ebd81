"""OpenTelemetry's own instrumentation of OpenAI's client (GenAI conventions)."""

from common import chat, provider
from openai import OpenAI
from opentelemetry import trace
from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor

created = provider()
OpenAIInstrumentor().instrument()
with trace.get_tracer("shop").start_as_current_span("POST /answers", attributes={"user.id": "u-1"}) as span:
    span.add_event("cache.miss", {"key": "oslo"})
    chat(OpenAI())
created.shutdown()
