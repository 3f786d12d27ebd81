import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import UUID, uuid4

import pytest
from langgraph.graph import START, MessagesState, StateGraph
from langsmith import traceable

from heddle_host.tracing import run_recorder
from heddle_host.tracing.run_tracing import RunTracing


class Platform:
    def __init__(self) -> None:
        self.requests: list[tuple[str | None, bytes]] = []
        self.rejections = 0
        platform = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                rejected = platform.rejections > 0
                platform.rejections -= rejected
                if not rejected:
                    platform.requests.append((self.headers["x-api-key"], body))
                self.send_response(503 if rejected else 202)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.to = {"state": "on", "url": f"http://127.0.0.1:{self.server.server_port}", "key": "secret"}

    def sent(self, kind: str) -> list[dict[str, Any]]:
        return [run for _, body in self.requests for run in json.loads(body)[kind]]


@pytest.fixture
def platform(monkeypatch: pytest.MonkeyPatch) -> Iterator[Platform]:
    # only a flush sends: on a slow machine a run would otherwise be sent in parts
    monkeypatch.setattr(run_recorder, "_DELAY_S", 60.0)
    started = Platform()
    yield started
    started.server.shutdown()
    started.server.server_close()


@traceable
def helper(x: int) -> int:
    return x + 1


def node(state: MessagesState) -> Any:
    helper(1)
    return {}


def fail(state: MessagesState) -> Any:
    raise ValueError("no")


GRAPH = StateGraph(MessagesState).add_node("node", node).add_edge(START, "node").compile()
FAILING = StateGraph(MessagesState).add_node("fail", fail).add_edge(START, "fail").compile()


async def run(tracing: RunTracing, graph: Any = GRAPH, attempt: int = 1, run_id: str | None = None) -> str:
    run_id = run_id or str(uuid4())
    trace = tracing.start({"run_id": run_id, "attempt": attempt}, {"config": {}, "input": {"messages": ["given"]}})
    assert trace is not None
    config = {"run_id": UUID(run_id), "callbacks": trace.callbacks, "configurable": {"thread_id": "t"}}
    try:
        await graph.ainvoke({"messages": [("user", "hi")]}, config)
    finally:
        trace.ended()
    return run_id


async def test_a_run_is_sent_once_with_its_nodes_and_what_they_trace(platform: Platform) -> None:
    tracing = RunTracing()
    tracing.direct(platform.to)
    run_id = await run(tracing)
    assert await tracing.flush(5000)
    runs = platform.sent("post")
    assert [entry["name"] for entry in runs] == ["LangGraph", "node", "helper"]
    assert {entry["trace_id"] for entry in runs} == {run_id}
    assert [len(entry["dotted_order"].split(".")) for entry in runs] == [1, 2, 3]
    assert all(entry["start_time"] <= entry["end_time"] and entry["end_time"].endswith("Z") for entry in runs)
    assert runs[1]["extra"]["metadata"]["langgraph_node"] == "node"
    assert runs[0]["extra"]["metadata"]["thread_id"] == "t"
    assert {key for key, _ in platform.requests} == {"secret"}


async def test_a_later_attempt_continues_the_trace_with_the_runs_input(platform: Platform) -> None:
    tracing = RunTracing()
    tracing.direct(platform.to)
    run_id = await run(tracing, attempt=2)
    assert await tracing.flush(5000)
    [root] = [entry for entry in platform.sent("patch") if entry["id"] == run_id]
    assert root["inputs"] == {"messages": ["given"]}


async def test_an_error_is_part_of_the_trace(platform: Platform) -> None:
    tracing = RunTracing()
    tracing.direct(platform.to)
    with pytest.raises(ValueError, match="no"):
        await run(tracing, FAILING)
    assert await tracing.flush(5000)
    assert all("ValueError" in entry["error"] for entry in platform.sent("post"))


async def test_traces_wait_for_a_platform_that_starts_or_is_busy(platform: Platform) -> None:
    tracing = RunTracing()
    tracing.direct({"state": "waiting"})
    await run(tracing)
    assert not await tracing.flush(100)
    platform.rejections = 1
    tracing.direct(platform.to)
    assert await tracing.flush(5000)
    assert len(platform.sent("post")) == 3


async def test_a_lost_trace_is_closed(platform: Platform) -> None:
    tracing = RunTracing()
    tracing.direct(platform.to)
    run_id = str(uuid4())
    lost = {"run_id": run_id, "name": "LangGraph", "start_time": "2026-11-24T06:00:00Z", "inputs": {}, "error": "died"}
    tracing.close({**lost, "metadata": {"a": 1}})
    assert await tracing.flush(5000)
    [closed] = platform.sent("patch")
    assert (closed["id"], closed["error"], closed["extra"]) == (run_id, "died", {"metadata": {"a": 1}})


async def test_nothing_is_traced_without_a_destination() -> None:
    tracing = RunTracing()
    assert tracing.start({"run_id": str(uuid4()), "attempt": 1}, {"config": {}}) is None


async def test_traces_are_masked_before_they_leave_the_process(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEDDLE_TRACE_MASKING", '[{"fields": ["inputs"], "pattern": "hi", "replacement": "[word]"}]')
    tracing = RunTracing()
    tracing.direct(platform.to)
    await run(tracing)
    assert await tracing.flush(5000)
    inputs = json.dumps([entry["inputs"] for entry in platform.sent("post")])
    assert "[word]" in inputs
    assert '"hi"' not in inputs


async def test_a_masking_that_cannot_be_read_hides_all_values(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEDDLE_TRACE_MASKING", "emails")
    said: list[str] = []
    tracing = RunTracing(said.append)
    tracing.direct(platform.to)
    await run(tracing)
    assert await tracing.flush(5000)
    assert [entry["inputs"] for entry in platform.sent("post")] == [{}, {}, {}]
    assert "no detector" in said[0]
