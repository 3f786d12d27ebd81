"""LangGraph's store, held by the server: a batch of operations is one round trip over the host's connection."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Future
from datetime import datetime, timezone
from typing import Any, NoReturn, cast

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)

from .serialize import to_json

_NOT_GIVEN = object()
"""Stands for a value for which the project's settings (`store.ttl`) apply. None is a value: the item never expires."""

SendOperations = Callable[[bytes], Awaitable[list[Any]]]


class RemoteStore(BaseStore):
    """Store of a host. Asynchronous methods work in the host's event loop, synchronous ones in any other thread.

    `call` sends a JSON array of operations (`StoreOperation` of the host protocol) and returns one result for each.
    """

    supports_ttl = True

    def __init__(self, call: SendOperations, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._call = call
        self._loop = loop or asyncio.get_running_loop()
        # what the base class puts into an operation whose caller has given no value
        self.ttl_config = cast(TTLConfig, {"default_ttl": _NOT_GIVEN, "refresh_on_read": _NOT_GIVEN})

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        operations = list(ops)
        if not operations:
            return []
        body = to_json([_to_wire(operation) for operation in operations])
        if asyncio.get_running_loop() is self._loop:
            results = await self._call(body)
        else:
            # a node that runs its own event loop
            results = await asyncio.wrap_future(self._from_thread(body))
        return [_from_wire(operation, result) for operation, result in zip(operations, results, strict=True)]

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        operations = list(ops)
        if not operations:
            return []
        body = to_json([_to_wire(operation) for operation in operations])
        if _in_loop(self._loop):
            _reject()
        results = self._from_thread(body).result()
        return [_from_wire(operation, result) for operation, result in zip(operations, results, strict=True)]

    def _from_thread(self, body: bytes) -> Future[list[Any]]:
        async def call() -> list[Any]:
            return await self._call(body)

        return asyncio.run_coroutine_threadsafe(call(), self._loop)


def _given(name: str, value: object) -> dict[str, Any]:
    return {} if value is _NOT_GIVEN else {name: value}


def _in_loop(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


def _reject() -> NoReturn:
    # waiting here would block the loop that receives the answer
    raise asyncio.InvalidStateError(
        "A synchronous method of the store was called in the event loop, which would block it. "
        "Use the asynchronous method, for example `await store.aget(...)`, or make the node a plain function."
    )


def _to_wire(operation: Op) -> dict[str, Any]:
    if isinstance(operation, GetOp):
        get: dict[str, Any] = {"op": "get", "namespace": list(operation.namespace), "key": operation.key}
        return {**get, **_given("refresh_ttl", operation.refresh_ttl)}
    if isinstance(operation, PutOp):
        put: dict[str, Any] = {
            "op": "put",
            "namespace": list(operation.namespace),
            "key": operation.key,
            "value": operation.value,
        }
        if operation.index is not None:
            put["index"] = operation.index
        return {**put, **_given("ttl", operation.ttl)}
    if isinstance(operation, SearchOp):
        search = {
            "op": "search",
            "namespace_prefix": list(operation.namespace_prefix),
            "filter": operation.filter,
            "limit": operation.limit,
            "offset": operation.offset,
            "query": operation.query,
        }
        given = {name: value for name, value in search.items() if value is not None}
        return {**given, **_given("refresh_ttl", operation.refresh_ttl)}
    conditions = [
        {"match_type": condition.match_type, "path": list(condition.path)}
        for condition in operation.match_conditions or ()
    ]
    listing: dict[str, Any] = {"op": "list", "limit": operation.limit, "offset": operation.offset}
    if conditions:
        listing["match_conditions"] = conditions
    if operation.max_depth is not None:
        listing["max_depth"] = operation.max_depth
    return listing


def _from_wire(operation: Op, result: Any) -> Result:
    if isinstance(operation, GetOp):
        return None if result is None else Item(**_fields(result))
    if isinstance(operation, SearchOp):
        return [SearchItem(**_fields(item), score=item.get("score")) for item in result]
    if isinstance(operation, ListNamespacesOp):
        return [tuple(namespace) for namespace in result]
    return None


def _fields(item: dict[str, Any]) -> dict[str, Any]:
    return {
        "namespace": tuple(item["namespace"]),
        "key": item["key"],
        "value": item["value"],
        "created_at": _time(item["created_at"]),
        "updated_at": _time(item["updated_at"]),
    }


def _time(text: str) -> datetime:
    # Python 3.10 parses neither the Z nor a fraction of other than 3 or 6 digits
    text = text.replace("Z", "+00:00")
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return datetime.strptime(text[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
