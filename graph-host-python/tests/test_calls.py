import json
import operator
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.store.memory import InMemoryStore
from langgraph.types import interrupt

from heddle_host.calls import answer
from heddle_host.calls.errors import CallError


class Context(TypedDict):
    model: str


class State(TypedDict):
    log: Annotated[list[str], operator.add]
    count: int


def ask(state: State) -> Any:
    return {"log": [interrupt("go on?")]}


CHILD = StateGraph(State).add_node("ask", ask).add_edge(START, "ask").compile()
GRAPH = (
    StateGraph(State, context_schema=Context)
    .add_node("first", lambda state: {"log": ["first"]})
    .add_node("child", CHILD)
    .add_edge(START, "first")
    .add_edge("first", "child")
    .compile()
)


class Savers:
    def __init__(self) -> None:
        self.saver = InMemorySaver()

    def reading(self) -> InMemorySaver:
        return self.saver

    guarded = unfenced = reading


class Host:
    def __init__(self) -> None:
        self.savers = Savers()
        self.store = InMemoryStore()

    @asynccontextmanager
    async def open_graph(self, graph_id: str, config: dict[str, Any], access: str) -> AsyncIterator[Any]:
        yield GRAPH

    async def call(self, method: str, **params: Any) -> Any:
        return json.loads(await answer(self, method, {"graph_id": "g", "config": {}, "thread_id": "t", **params}))

    async def run(self) -> None:
        graph = GRAPH.copy({"checkpointer": self.savers.saver})
        await graph.ainvoke({"log": [], "count": 0}, {"configurable": {"thread_id": "t"}})


async def test_schemas_have_types_also_for_typing_typed_dict() -> None:
    schemas = await Host().call("graph.schemas")
    log = {"items": {"type": "string"}, "title": "Log", "type": "array"}
    for kind in ("input_schema", "output_schema"):
        assert schemas[kind]["properties"]["log"] == log
    assert schemas["state_schema"]["properties"]["count"]["type"] == "integer"
    assert schemas["context_schema"]["properties"] == {"model": {"title": "Model", "type": "string"}}


async def test_subgraphs_and_drawings_show_the_nodes_of_subgraphs() -> None:
    host = Host()
    assert list(await host.call("graph.subgraphs", recurse=True)) == ["child"]
    drawing = await host.call("graph.drawing", xray=True)
    assert "child:ask" in [node["id"] for node in drawing["nodes"]]
    assert all(edge["conditional"] is False for edge in drawing["edges"])


async def test_a_state_shows_pending_tasks_and_on_request_those_of_subgraphs() -> None:
    host = Host()
    assert (await host.call("state.get", subgraphs=False))["checkpoint"] is None
    await host.run()
    state = await host.call("state.get", subgraphs=False)
    assert (state["values"], state["next"]) == ({"log": ["first"], "count": 0}, ["child"])
    assert state["metadata"]["writes"] == {"first": {"log": ["first"]}}
    [task] = state["tasks"]
    assert task["checkpoint"]["checkpoint_ns"] == f"child:{task['id']}"
    deep = await host.call("state.get", subgraphs=True)
    assert deep["tasks"][0]["state"]["next"] == ["ask"]
    assert deep["interrupts"] == [{"id": state["interrupts"][0]["id"], "value": "go on?"}]
    history = await host.call("state.history", limit=10)
    assert [entry["metadata"]["step"] for entry in history] == [1, 0, -1]


async def test_an_update_applies_reducers_and_returns_the_new_head() -> None:
    host = Host()
    await host.run()
    superstep = {"updates": [{"command": {"update": {"log": ["more"]}, "goto": "first"}, "as_node": "first"}]}
    updated = await host.call("state.update", supersteps=[superstep])
    assert updated["state"]["values"]["log"] == ["first", "more"]
    assert updated["state"]["of"] == updated["checkpoint"]["checkpoint_id"]
    assert updated["state"]["next"] == ["first", "child"]


@pytest.mark.parametrize(
    ("params", "status"),
    [({"supersteps": [{"updates": [{"as_node": "nobody"}]}]}, 422), ({"checkpoint": {"checkpoint_id": "x"}}, 404)],
)
async def test_an_update_that_cannot_be_applied_is_the_callers_mistake(params: dict[str, Any], status: int) -> None:
    host = Host()
    await host.run()
    with pytest.raises(CallError) as raised:
        await host.call("state.update", **{"supersteps": [], **params})
    assert raised.value.status == status
