from typing import Any

from heddle_host.runs.protocol_events import _Translator  # pyright: ignore[reportPrivateUsage]


def test_tool_calls_are_sent_as_blocks() -> None:
    sent: list[tuple[str, Any]] = []
    translator = _Translator(lambda name, data: sent.append((name, data)))
    start = {"type": "tool_call_chunk", "id": "c1", "name": "add", "args": ""}
    events: list[dict[str, Any]] = [
        {"event": "content-block-start", "index": 0, "content": start},
        {"event": "content-block-delta", "index": 0, "delta": {"type": "tool-call-delta", "args": '{"a"'}},
        {"event": "content-block-delta", "index": 0, "delta": {"type": "tool-call-delta", "args": ": 1}"}},
    ]
    for event in events:
        translator.event("messages", {"namespace": (), "data": (event, {})})
    assert {name for name, _ in sent} == {'protocol:["messages"]'}
    deltas = [data["data"]["delta"] for _, data in sent[1:]]
    assert [delta["type"] for delta in deltas] == ["block-delta", "block-delta"]
    assert [delta["fields"]["args"] for delta in deltas] == ['{"a"', '{"a": 1}']
    assert deltas[1]["fields"] == {"type": "tool_call_chunk", "id": "c1", "name": "add", "args": '{"a": 1}'}
