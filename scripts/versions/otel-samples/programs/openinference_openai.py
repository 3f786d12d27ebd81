"""OpenInference's instrumentation of OpenAI's client."""

from common import chat, provider
from openai import OpenAI
from openinference.instrumentation import using_attributes
from openinference.instrumentation.openai import OpenAIInstrumentor

created = provider()
OpenAIInstrumentor().instrument(tracer_provider=created)
with using_attributes(session_id="thread-1", user_id="u-1", metadata={"team": "blue"}, tags=["sample"]):
    chat(OpenAI())
created.shutdown()
