from __future__ import annotations

from heddle_host.runs.run_input import run_config, run_input

START = {
    "run_id": "01a1ff3c-0a4b-7000-ad8f-9d19227c1a8f",
    "thread_id": "t",
    "graph_id": "g",
    "assistant_id": "a",
    "attempt": 1,
}
TRACE = {"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "tracestate": "vendor=1"}


def test_the_trace_of_the_request_is_metadata_that_the_caller_may_replace() -> None:
    metadata = run_config(START, {"config": {}, "trace": TRACE}, "1.0")["metadata"]
    assert metadata.items() >= TRACE.items()
    own = {"config": {"metadata": {"traceparent": "own"}}, "trace": TRACE}
    assert run_config(START, own, "1.0")["metadata"]["traceparent"] == "own"
    assert "traceparent" not in run_config(START, {"config": {}}, "1.0")["metadata"]


def test_the_update_of_a_command_may_be_a_list_of_pairs() -> None:
    command = run_input({"command": {"update": [["log", ["a"]], ["topic", "t"]]}})
    assert list(command._update_as_tuples()) == [("log", ["a"]), ("topic", "t")]
