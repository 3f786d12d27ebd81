import asyncio
import json
from typing import Any

import pytest

from heddle_host.store import RemoteStore

ITEM = {
    "namespace": ["facts", "ada"],
    "key": "k",
    "value": {"a": 1},
    "created_at": "2026-11-24T06:00:00.123Z",
    "updated_at": "2026-11-24T06:00:00Z",
    "score": 0.5,
}


class Server:
    def __init__(self) -> None:
        self.calls: list[list[dict[str, Any]]] = []

    async def __call__(self, body: bytes) -> list[Any]:
        operations = json.loads(body)
        self.calls.append(operations)
        await asyncio.sleep(0)
        answers = {"get": ITEM, "put": None, "search": [ITEM], "list": [["facts", "ada"]]}
        return [answers[operation["op"]] for operation in operations]


async def test_operations_cross_the_protocol_in_langgraphs_terms() -> None:
    server = Server()
    store = RemoteStore(server)
    await store.aput(("facts", "ada"), "k", {"a": 1}, index=False, ttl=5)
    item = await store.aget(("facts", "ada"), "k")
    found = await store.asearch(("facts",), query="q", filter={"a": 1})
    assert await store.alist_namespaces(prefix=("facts",)) == [("facts", "ada")]
    assert item is not None and (item.namespace, item.value) == (("facts", "ada"), {"a": 1})
    assert found[0].score == 0.5
    put, get, search, listing = (operations[0] for operations in server.calls)
    assert put == {
        "op": "put",
        "namespace": ["facts", "ada"],
        "key": "k",
        "value": {"a": 1},
        "index": False,
        "ttl": 5,
    }
    assert get == {"op": "get", "namespace": ["facts", "ada"], "key": "k"}
    assert (search["namespace_prefix"], search["query"], search["filter"]) == (["facts"], "q", {"a": 1})
    assert listing["match_conditions"] == [{"match_type": "prefix", "path": ["facts"]}]


async def test_a_read_can_leave_the_time_to_live_alone() -> None:
    server = Server()
    store = RemoteStore(server)
    await store.aget(("facts", "ada"), "k", refresh_ttl=False)
    await store.asearch(("facts",), refresh_ttl=False)
    assert [operations[0]["refresh_ttl"] for operations in server.calls] == [False, False]


async def test_the_projects_times_to_live_apply_only_where_the_caller_gives_none() -> None:
    server = Server()
    store = RemoteStore(server)
    for more in ({}, {"ttl": None}, {"ttl": 5}):
        await store.aput(("facts", "ada"), "k", {"a": 1}, **more)
    await asyncio.to_thread(store.put, ("facts", "ada"), "k", {"a": 1}, ttl=None)
    absent = object()
    assert [call[0].get("ttl", absent) for call in server.calls] == [absent, None, 5, None]
    server.calls.clear()
    for more in ({}, {"refresh_ttl": True}, {"refresh_ttl": False}):
        await store.aget(("facts", "ada"), "k", **more)
        await store.asearch(("facts",), **more)
    refreshes = [call[0].get("refresh_ttl", absent) for call in server.calls]
    assert refreshes == [absent, absent, True, True, False, False]


async def test_a_node_in_a_thread_uses_the_synchronous_methods() -> None:
    store = RemoteStore(Server())
    item = await asyncio.to_thread(store.get, ("facts", "ada"), "k")
    assert item is not None and item.key == "k"


async def test_a_synchronous_method_in_the_event_loop_names_the_asynchronous_one() -> None:
    with pytest.raises(asyncio.InvalidStateError, match="aget"):
        RemoteStore(Server()).get(("facts",), "k")
