from typing import Any, TypedDict
from uuid import uuid4

import pytest
from langgraph.graph import START, StateGraph

from heddle_host.checkpoints.errors import ValueTooLargeError
from heddle_host.checkpoints.saver import HeddleSaver

from .checkpoint_server import connect


class State(TypedDict):
    text: str


async def test_a_value_above_the_limit_is_not_stored_and_the_error_names_the_setting(checkpoint_socket: str) -> None:
    checkpoints, close = await connect(checkpoint_socket, max_value_bytes=1000)
    try:
        saver = HeddleSaver(checkpoints)
        builder = StateGraph(State).add_node("double", lambda state: {"text": state["text"] * 2})
        graph = builder.add_edge(START, "double").compile(checkpointer=saver)
        config: Any = {"configurable": {"thread_id": str(uuid4())}}
        assert await graph.ainvoke({"text": "x" * 400}, config) == {"text": "x" * 800}
        with pytest.raises(ValueTooLargeError, match=r'"text" in thread .* \(HEDDLE_MAX_VALUE_MB\)'):
            await graph.ainvoke({"text": "x" * 600}, config)
    finally:
        close()
