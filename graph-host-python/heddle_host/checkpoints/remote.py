"""Checkpoints of this process, which the server writes and reads: the host has no access to the database.

Frames and the order of the bytes in their bodies are defined in host-kit/src/host-protocol.ts (`CheckpointFrame`).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

from ..frames import (
    CheckpointChange,
    CheckpointChangeFrame,
    CheckpointFrame,
    CheckpointHistoryFrame,
    CheckpointReadFrame,
    CheckpointResult,
    CheckpointWriteFrame,
    WireItem,
    WireQuery,
    WireWrite,
)
from .errors import OtherLanguageError, error_of
from .last_heads import LastHeads
from .list_changes import CHANGE_TYPE, ListBuilder, StoredChannel
from .rows import CheckpointQuery, Finished, StoredCheckpoint, StoredHistory, StoredWrite, WriteItem

Send = Callable[[CheckpointFrame, Sequence[bytes]], None]

# Bytes of unanswered writes above which further writes wait in this process instead of the server's memory.
_WINDOW_BYTES = 48 * 1024 * 1024
# Type of a value that holds the change of a list, which the JavaScript host writes.
_JAVASCRIPT_CHANGE = "list"


class _Written(NamedTuple):
    future: asyncio.Future[Finished | None]
    item: WriteItem
    size: int


class _Held(NamedTuple):
    header: CheckpointWriteFrame
    body: list[bytes]
    written: _Written


class RemoteCheckpoints:
    """What all savers of a host share: the way to the server, and the checkpoints with which runs ended.

    Writes are committed in order. The server puts those of all hosts into few statements; a lazy one does not cause a
    statement, but joins the next. Methods must be called in the event loop in which the host receives its frames.
    """

    def __init__(self, send: Send, *, max_value_bytes: int = 64 * 2**20) -> None:
        self._send = send
        # largest value of a channel
        self.max_value_bytes = max_value_bytes
        # whether lists are not stored as changes, because an older server cannot read these
        self.stores_lists_whole = False
        self.last_heads = LastHeads()
        self._next_id = 1
        self._writes: dict[int, _Written] = {}
        self._calls: dict[int, asyncio.Future[tuple[CheckpointResult, bytes]]] = {}
        self._unanswered_bytes = 0
        self._held: deque[_Held] = deque()

    def write(self, item: WriteItem, lazy: bool) -> asyncio.Future[Finished | None]:
        """Resolves when the item is committed.

        Fails with FencedError, HeadMovedError, DatabaseAwayError, or CheckpointError when the database rejects it.
        """
        header, body = _encode(item)
        written = _Written(asyncio.get_running_loop().create_future(), item, sum(map(len, body)))
        held = _Held({"t": "checkpoint.write", "id": self._new_id(), "lazy": lazy, "item": header}, body, written)
        if self._held or not self._fits(written.size):
            self._held.append(held)
            # no later frame would carry the lazy ones that fill the window
            self._send({"t": "checkpoint.hurry"}, ())
        else:
            self._send_write(held)
        return written.future

    def relax(self, items: set[WriteItem]) -> None:
        """Marks items as lazy: no caller waits for them any more."""
        ids = [write_id for write_id, written in self._writes.items() if written.item in items]
        if ids:
            self._send({"t": "checkpoint.relax", "ids": ids}, ())

    def hurry(self) -> None:
        """Has everything committed that was written so far."""
        for held in self._held:
            held.header["lazy"] = False
        self._send({"t": "checkpoint.hurry"}, ())

    async def read(self, query: CheckpointQuery) -> tuple[list[StoredCheckpoint], str | None]:
        """Returns the checkpoints, newest first, and the newest id of the namespace regardless of the selection.

        The newest id is None across namespaces.
        """
        fields = {name: getattr(query, name) for name in CheckpointQuery.__slots__}
        given = cast(WireQuery, {name: value for name, value in fields.items() if value is not None})
        header, body = await self._call({"t": "checkpoint.read", "id": self._new_id(), "query": given})
        return _decode_checkpoints(header, _Body(header, body)), header.get("newest")

    async def read_delta_history(
        self, thread_id: str, ns: str, checkpoint_id: str | None, channels: list[str]
    ) -> dict[str, StoredHistory]:
        """Reads the history from which the library rebuilds delta channels."""
        call: CheckpointHistoryFrame = {
            "t": "checkpoint.history",
            "id": self._new_id(),
            "thread_id": thread_id,
            "ns": ns,
            "channels": channels,
        }
        if checkpoint_id is not None:
            call["checkpoint_id"] = checkpoint_id
        header, data = await self._call(call)
        body = _Body(header, data)
        histories: dict[str, StoredHistory] = {}
        for found in header.get("history", []):
            seed = body.value(found["seed"], thread_id) if "seed" in found else None
            histories[found["channel"]] = StoredHistory([body.write(write) for write in found["writes"]], seed)
        return histories

    async def change(self, change: CheckpointChange) -> None:
        """Copies, prunes or deletes checkpoints."""
        await self._call({"t": "checkpoint.change", "id": self._new_id(), "change": change})

    def answered(self, header: CheckpointResult, body: bytes) -> None:
        """Handles a `checkpoint.result`."""
        written = self._writes.pop(header["id"], None)
        if written is None:
            call = self._calls.pop(header["id"])
            if call.done():
                return
            if "error" in header:
                call.set_exception(error_of(header["error"]))
            else:
                call.set_result((header, body))
            return
        self._unanswered_bytes -= written.size
        if not written.future.done():
            finished = header.get("finished")
            if "error" in header:
                written.future.set_exception(error_of(header["error"]))
            else:
                written.future.set_result(Finished(finished["outcome"], finished["waiting"]) if finished else None)
        while self._held and self._fits(self._held[0].written.size):
            self._send_write(self._held.popleft())

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id

    def _fits(self, size: int) -> bool:
        return not self._writes or self._unanswered_bytes + size <= _WINDOW_BYTES

    def _send_write(self, held: _Held) -> None:
        self._writes[held.header["id"]] = held.written
        self._unanswered_bytes += held.written.size
        self._send(held.header, held.body)

    async def _call(
        self, call: CheckpointReadFrame | CheckpointHistoryFrame | CheckpointChangeFrame
    ) -> tuple[CheckpointResult, bytes]:
        future: asyncio.Future[tuple[CheckpointResult, bytes]] = asyncio.get_running_loop().create_future()
        self._calls[call["id"]] = future
        self._send(call, ())
        return await future


def _encode(item: WriteItem) -> tuple[WireItem, list[bytes]]:
    body: list[bytes] = []

    def add(data: bytes) -> int:
        body.append(data)
        return len(data)

    rows = (item.checkpoint, *item.blobs, *item.writes)
    row = next((row for row in rows if row), None)
    header: WireItem = {
        "thread_id": row.thread_id if row else item.finish.thread_id if item.finish else "",
        "ns": row.ns if row else "",
        "blobs": [],
        "writes": [],
    }
    if item.fence:
        header["fence"] = {"run_id": item.fence.run_id, "attempt": item.fence.attempt}
    if item.guard:
        header["guard"] = item.guard.newest
    if c := item.checkpoint:
        header["checkpoint"] = {"id": c.id, "parent_id": c.parent_id, "bytes": (add(c.checkpoint), add(c.metadata))}
    header["blobs"] = [
        {
            "channel": b.channel,
            "version": b.version,
            "type": b.type,
            "link": b.link,
            "bytes": None if b.blob is None else add(b.blob),
        }
        for b in item.blobs
    ]
    header["writes"] = [
        {
            "checkpoint_id": w.checkpoint_id,
            "task_id": w.task_id,
            "idx": w.idx,
            "channel": w.channel,
            "type": w.type,
            "replaces": w.replaces,
            "bytes": add(w.blob),
        }
        for w in item.writes
    ]
    if item.finish:
        header["finish"] = {"notify": item.finish.notify, "bytes": add(item.finish.state)}
    return header, body


class _Body:
    """Takes what a body consists of: the values of channels, then the rest in its order."""

    def __init__(self, header: CheckpointResult, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._headers = header.get("values", [])
        self._parts = [self.take(value["bytes"]) for value in self._headers]
        self._values: dict[int, StoredChannel] = {}

    def take(self, size: int) -> bytes:
        start = self._at
        self._at += size
        return self._data[start : self._at]

    def write(self, header: WireWrite) -> StoredWrite:
        data = self.take(header["bytes"])
        return StoredWrite(header["type"], data, header["task_id"], header["idx"], header["channel"])

    def value(self, place: int, thread_id: str) -> StoredChannel:
        """Returns the value at a place. Checkpoints that have a value in common share the object."""
        if place not in self._values:
            self._values[place] = self._build(place, thread_id)
        return self._values[place]

    def _build(self, place: int, thread_id: str) -> StoredChannel:
        header = self._headers[place]
        if header["type"] == _JAVASCRIPT_CHANGE:
            raise OtherLanguageError(thread_id)
        if header["type"] != CHANGE_TYPE:
            return StoredChannel(header["type"], self._parts[place], header["version"])
        changes: list[bytes] = []
        at = place
        while (changed := self._headers[at])["type"] == CHANGE_TYPE and "base" in changed:
            changes.append(self._parts[at])
            at = changed["base"]
        builder = ListBuilder(self._parts[at], self._headers[at]["version"])
        for change in reversed(changes):
            builder.apply(change)
        return StoredChannel("msgpack", builder.data(), header["version"], builder.chain)


def _decode_checkpoints(header: CheckpointResult, body: _Body) -> list[StoredCheckpoint]:
    checkpoints: list[StoredCheckpoint] = []
    for found in header.get("checkpoints", []):
        checkpoint, metadata = [body.take(size) for size in found["bytes"]]
        stored = StoredCheckpoint(
            found["thread_id"], found["ns"], found["id"], found["parent_id"], checkpoint, metadata
        )
        stored.values = {channel: body.value(place, stored.thread_id) for channel, place in found["values"]}
        stored.writes = [body.write(write) for write in found["writes"]]
        stored.parent_sends = [body.write(write) for write in found["parent_sends"]]
        checkpoints.append(stored)
    return checkpoints
