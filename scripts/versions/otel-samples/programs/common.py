"""What every sample asks, and OpenTelemetry's SDK with its OTLP exporter, configured by the standard variables."""

import base64

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

MODEL = "gpt-4o-mini"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SOUND = base64.b64encode(b"RIFF$\x00\x00\x00WAVEfmt ").decode()
MEDIA = [
    {"type": "text", "text": "What is this?"},
    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
    {"type": "input_audio", "input_audio": {"data": SOUND, "format": "wav"}},
]
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Returns the weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def provider() -> TracerProvider:
    created = TracerProvider()
    created.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(created)
    return created


def chat(client) -> None:
    """Calls of OpenAI's client: a tool, a message with an image and audio, a stream, an embedding and a failure."""
    messages = [
        {"role": "system", "content": "Answer in one sentence."},
        {"role": "user", "content": "How warm is it in Oslo?"},
    ]
    first = client.chat.completions.create(model=MODEL, messages=messages, tools=[TOOL], temperature=0.5)
    call = first.choices[0].message.tool_calls[0]
    messages += [
        {"role": "assistant", "content": None, "tool_calls": [call.model_dump()]},
        {"role": "tool", "tool_call_id": call.id, "content": "7 degrees"},
    ]
    client.chat.completions.create(model=MODEL, messages=messages, tools=[TOOL])
    client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": MEDIA}], max_tokens=50)
    streamed = client.chat.completions.create(
        model=MODEL,
        messages=[{"role": "user", "content": "Slowly, please."}],
        stream=True,
        stream_options={"include_usage": True},
    )
    for _ in streamed:
        pass
    client.embeddings.create(model="text-embedding-3-small", input=["warm", "cold"])
    try:
        client.chat.completions.create(model="refusing-model", messages=[{"role": "user", "content": "Please."}])
    except Exception as error:
        assert "refuses" in str(error), error
