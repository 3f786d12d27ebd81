"""Checkpoint saver on the server's database, through the server.

It uses the tables of the official Postgres saver, and each reads the other's rows. A put or a write returns when it is
committed, with one exception: anything put before user code of this run could have run (the input's checkpoint, and the
start step's where it only copies) returns at once. It is queued before everything that follows, so later commits always
include it. The same holds for a checkpoint that no node follows: `finish` or `flush` comes next. A failure surfaces at
the next write or `flush`.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)

from .. import json_text
from .blocking_saver import BlockingSaver
from .channel_lists import ChannelLists, ShownLists
from .clock import CheckpointClock, process_clock
from .errors import CheckpointOrderError, ValueTooLargeError
from .heads import Heads, NewestIds
from .list_changes import ListItem
from .load_tuple import TASKS, load_tuple, load_write
from .merged_metadata import metadata_text
from .remote import RemoteCheckpoints
from .rows import (
    BlobRow,
    CheckpointQuery,
    CheckpointRow,
    Fence,
    Finished,
    FinishRow,
    HeadGuard,
    StoredCheckpoint,
    WriteItem,
    WriteRow,
)
from .steps import StartStep, Triggers, nothing_follows

T = TypeVar("T")

# Checkpoints of a history that are read at a time: the server holds their values in memory.
_PAGE = 20


class HeddleSaver(BlockingSaver):
    """Saver for one run, or for one read or manual update. It is cheap to create."""

    def __init__(
        self,
        checkpoints: RemoteCheckpoints,
        *,
        fence: Fence | None = None,
        fresh_thread: str | None = None,
        head: tuple[str, str] | None = None,
        passive_start: bool = False,
        triggers: Triggers | None = None,
        guarded: bool = False,
        clock: CheckpointClock = process_clock,
        on_checkpoint: Callable[[str], None] | None = None,
    ) -> None:
        """`fence`: run that writes; without it, rows are written unfenced.

        `fresh_thread`: thread known to have no checkpoint. `head`: thread and id of its newest checkpoint, without
        pending writes. `guarded`: writes are rejected once the thread has changed. `on_checkpoint` is called with each
        committed checkpoint of the root graph that is waited for.
        """
        super().__init__()
        self._checkpoints = checkpoints
        self._fence = fence
        self._fresh_thread = fresh_thread
        self._head = head
        self._triggers = triggers
        self._guarded = guarded
        self._on_checkpoint = on_checkpoint
        self._clock = clock
        self._heads = Heads()
        self._newest = NewestIds(clock)
        self._start = StartStep(passive_start)
        self._lists = ChannelLists(
            self.serde, tracks=fence is not None, stores_whole=lambda: checkpoints.stores_lists_whole
        )
        self._load_value = self._lists.load
        # namespaces that this saver has written to
        self._written: set[str] = set()
        self._unsettled: set[asyncio.Future[Finished | None]] = set()
        # items with a waiting caller
        self._awaited: dict[WriteItem, asyncio.Future[None]] = {}
        # tasks whose writes a step waits for
        self._expected: dict[str, concurrent.futures.Future[None]] = {}
        # a list, which copies of this saver share
        self._failures: list[BaseException] = []

    # reading

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        configurable = config.get("configurable") or {}
        thread_id = configurable.get("thread_id")
        if thread_id is None:
            return None
        ns, checkpoint_id = configurable.get("checkpoint_ns") or "", configurable.get("checkpoint_id") or None
        stored = await self._stored(str(thread_id), ns, checkpoint_id)
        return self._load(stored) if stored else None

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        configurable = (config.get("configurable") or {}) if config else {}
        thread_id = configurable.get("thread_id")
        if thread_id is not None and thread_id == self._fresh_thread and not self._written:
            return
        await self.flush()
        query = CheckpointQuery(
            thread_id=str(thread_id) if thread_id else None,
            ns=configurable.get("checkpoint_ns"),
            id=configurable.get("checkpoint_id") or None,
            before=((before.get("configurable") or {}).get("checkpoint_id") or None) if before else None,
            filter=filter,
            limit=limit,
        )
        # ids are unique in a namespace only
        is_paged = query.thread_id is not None and query.ns is not None and query.id is None
        while True:
            remaining = query.limit
            if is_paged and (remaining is None or remaining > _PAGE):
                query.limit = _PAGE
            found = await self._read(query)
            for stored in found:
                yield self._load(stored)
            if query.limit == remaining or len(found) < _PAGE:
                return
            query.before = found[-1].id
            query.limit = None if remaining is None else remaining - _PAGE

    async def aget_delta_channel_history(self, *, config: RunnableConfig, channels: Sequence[str]) -> Mapping[str, Any]:
        configurable = config.get("configurable") or {}
        thread_id = configurable.get("thread_id")
        if not channels or thread_id is None:
            return {}
        await self.flush()
        ns, checkpoint_id = configurable.get("checkpoint_ns") or "", configurable.get("checkpoint_id") or None
        history = await self._checkpoints.read_delta_history(str(thread_id), ns, checkpoint_id, list(channels))
        result: dict[str, Any] = {}
        for channel, stored in history.items():
            result[channel] = {"writes": [load_write(self.serde, write) for write in stored.writes]}
            if stored.seed:
                result[channel]["seed"] = self.serde.loads_typed((stored.seed.type, stored.seed.data))
        return result

    def reader(self) -> HeddleSaver:
        """Returns a saver that only reads, without a query where this one has put the newest checkpoint."""
        reader = HeddleSaver(self._checkpoints, clock=self._clock)
        reader._heads = self._heads
        reader._unsettled = self._unsettled
        reader._failures = self._failures
        reader._load_value = self._lists.show
        return reader

    async def unfinished(self, thread_id: str, checkpoint_id: str | None) -> CheckpointTuple | None:
        """Returns a checkpoint of the root graph (the newest one without an id) that nodes would have followed."""
        stored = await self._stored(thread_id, "", checkpoint_id)
        if not stored or self._triggers is None:
            return None
        if not stored.parent_sends:
            values: dict[str, Any] = {
                channel: True for channel, value in stored.values.items() if value.type != "empty"
            }
            if TASKS in values:
                tasks = stored.values[TASKS]
                values[TASKS] = self.serde.loads_typed((tasks.type, tasks.data))
            checkpoint = {**json_text.loads(stored.checkpoint), "channel_values": values}
            if nothing_follows(checkpoint, self._triggers):
                return None
        return self._load(stored)

    async def _stored(self, thread_id: str, ns: str, checkpoint_id: str | None) -> StoredCheckpoint | None:
        head = self._heads.get(thread_id, ns, checkpoint_id)
        if head:
            self._raise_failure()
            return head
        if thread_id == self._fresh_thread and ns not in self._written:
            return None
        await self.flush()
        if self._guarded and ns and "" not in self._newest.in_thread(thread_id):
            # an update of a subgraph's state is based on the root graph's head too, whose task the subgraph runs in
            await self._read(CheckpointQuery(thread_id=thread_id, ns="", limit=0))
        stored = None if checkpoint_id else self._remembered(thread_id, ns)
        if stored:
            self._newest.observe(thread_id, ns, stored.id)
        else:
            found = await self._read(CheckpointQuery(thread_id=thread_id, ns=ns, id=checkpoint_id, limit=1))
            stored = found[0] if found else None
        if stored and self._fence and not checkpoint_id:
            self._heads.read(stored)
        return stored

    def _remembered(self, thread_id: str, ns: str) -> StoredCheckpoint | None:
        if not self._head or self._head[0] != thread_id or ns or ns in self._written:
            return None
        return self._checkpoints.last_heads.get(thread_id, self._head[1])

    async def _read(self, query: CheckpointQuery) -> list[StoredCheckpoint]:
        checkpoints, newest = await self._checkpoints.read(query)
        if newest is not None and query.thread_id is not None and query.ns is not None:
            self._newest.observe(query.thread_id, query.ns, newest)
        return checkpoints

    def _load(self, stored: StoredCheckpoint) -> CheckpointTuple:
        return load_tuple(stored, self.serde, self.get_next_version, self._load_value)

    # writing

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        configurable = config["configurable"]  # pyright: ignore[reportTypedDictNotRequiredAccess]
        thread_id, ns = str(configurable["thread_id"]), configurable.get("checkpoint_ns") or ""
        parent_id: str | None = configurable.get("checkpoint_id") or None
        checkpoint_id = checkpoint["id"]
        self._raise_failure()
        guard = self._guard(thread_id)
        # no await unless necessary: the order of calls is the order of the queue
        if not self._newest.observe(thread_id, ns, checkpoint_id):
            await self._assert_replaces(thread_id, ns, checkpoint_id)
        last = self._is_last(ns, checkpoint)
        early = self._start.puts_early(ns, cast(Mapping[str, Any], checkpoint), metadata.get("source")) or last
        values = checkpoint["channel_values"]
        text = json_text.storable(json_text.dumps({k: v for k, v in checkpoint.items() if k != "channel_values"}))
        run_id = self._fence.run_id if self._fence else None
        row = CheckpointRow(thread_id, ns, checkpoint_id, parent_id, text, metadata_text(config, metadata, run_id))
        blobs = [self._blob(thread_id, ns, channel, str(version), values) for channel, version in new_versions.items()]
        self._written.add(ns)
        self._heads.put(row, blobs, cast(Mapping[str, Any], checkpoint))
        if last:
            self._relax()
        await self._write(WriteItem(self._fence, guard, row, blobs), early and not guard)
        if not early and not ns and self._on_checkpoint:
            self._on_checkpoint(checkpoint_id)
        return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": checkpoint_id}}

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        configurable = config["configurable"]  # pyright: ignore[reportTypedDictNotRequiredAccess]
        thread_id, ns = str(configurable["thread_id"]), configurable.get("checkpoint_ns") or ""
        checkpoint_id: str = configurable["checkpoint_id"]
        self._raise_failure()
        guard = self._guard(thread_id)
        channels = [channel for channel, _ in writes]
        early = self._start.puts_writes_early(ns, checkpoint_id, channels)
        replaces = all(channel in WRITES_IDX_MAP for channel in channels)
        rows = [
            WriteRow(
                thread_id,
                ns,
                checkpoint_id,
                task_id,
                WRITES_IDX_MAP.get(channel, i),
                channel,
                *self._checked(thread_id, channel, self.serde.dumps_typed(value)),
                replaces,
            )
            for i, (channel, value) in enumerate(writes)
        ]
        self._written.add(ns)
        self._heads.put_writes(rows)
        expected = self._expected.get(task_id)
        if expected and not expected.done():
            # waiting callers continue in a later turn of the event loop, when the write is queued
            expected.set_result(None)
        await self._write(WriteItem(self._fence, guard, None, [], rows), early and not guard)

    def expect_writes(self, task_id: str) -> None:
        """Called before a task ends; `writes_put` then waits until LangGraph has put its writes."""
        self._expected[task_id] = concurrent.futures.Future()

    async def writes_put(self, task_id: str) -> None:
        await asyncio.wrap_future(self._expected[task_id])
        del self._expected[task_id]

    async def adelete_thread(self, thread_id: str) -> None:
        await self.aprune([thread_id], strategy="delete")

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        await self.flush()
        self._heads.clear()
        await self._checkpoints.change({"op": "delete_runs", "run_ids": list(run_ids)})

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await self.flush()
        await self._checkpoints.change({"op": "copy_thread", "source": source_thread_id, "target": target_thread_id})

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        await self.flush()
        for thread_id in thread_ids:
            self._heads.clear(thread_id)
        if strategy == "keep_latest":
            await self._checkpoints.change({"op": "keep_latest", "thread_ids": list(thread_ids)})
        elif strategy == "delete":
            await self._checkpoints.change({"op": "delete_threads", "thread_ids": list(thread_ids)})
        else:
            raise ValueError(f'Unknown strategy "{strategy}". The strategies are "keep_latest" and "delete".')

    def items_shown(self, value: Any) -> list[ListItem] | None:
        """Returns the stored items of a list that a `reader` has returned."""
        return self._lists.items_shown(value)

    def shown_lists(self, thread_id: str) -> ShownLists | None:
        """Returns the lists that a thread's values show since its last run in this process."""
        return self._checkpoints.last_heads.shown(thread_id)

    async def finish(
        self,
        thread_id: str,
        state: bytes,
        notify: bool,
        whole: Callable[[], bytes] | None = None,
        shown: ShownLists | None = None,
    ) -> Finished:
        """Writes the run's final status together with everything unsent, in one commit. Fails as `flush` does.

        If the thread's values are not those that the lists of `state` continue, the checkpoint is committed, and the
        end follows with `whole`. `shown`: the lists that the thread's values show then.
        """
        assert self._fence, "only the saver of a run can finish the run"
        self._raise_failure()
        finished = self._checkpoints.write(WriteItem(self._fence, finish=FinishRow(thread_id, state, notify)), False)
        finished.add_done_callback(_retrieve)
        await self.flush()
        result = await finished
        if result and result.outcome == "stale_values" and whole:
            end = FinishRow(thread_id, whole(), notify)
            result = await self._checkpoints.write(WriteItem(self._fence, finish=end), False)
        result = result or Finished("lost", False)
        head = self._heads.get(thread_id, "")
        if head and result.outcome != "lost":
            self._lists.release(head.thread_id, head.ns)
            self._checkpoints.last_heads.keep(head, shown)
        return result

    async def flush(self, thread_id: str | None = None) -> None:
        """Returns when all puts are committed; raises the first failure of this saver.

        Given a thread, as at the end of a run, it remembers that thread's newest checkpoint.
        """
        if self._unsettled:
            self._checkpoints.hurry()
            await asyncio.wait(list(self._unsettled))
        self._raise_failure()
        head = self._heads.get(thread_id, "") if thread_id is not None else None
        if head:
            self._lists.release(head.thread_id, head.ns)
            self._checkpoints.last_heads.keep(head)

    def get_next_version(self, current: Any, channel: None) -> Any:
        """Returns the next version of a channel, in the format of the official saver.

        The random part keeps branches that start from one checkpoint apart. LangGraph calls this once a step.
        """
        if current is None:
            step = 0
        elif isinstance(current, str):
            step = int(current.split(".", 1)[0])
        else:
            # a thread of another saver: versions of two kinds cannot be compared
            return current + 1
        return f"{step + 1:032}.{random.random():016}"

    async def _write(self, item: WriteItem, early: bool) -> None:
        settled = self._checkpoints.write(item, early)
        self._unsettled.add(settled)
        waiter: asyncio.Future[None] | None = None if early else self.loop.create_future()

        def done(future: asyncio.Future[Finished | None]) -> None:
            self._unsettled.discard(future)
            error = future.exception() if not future.cancelled() else asyncio.CancelledError()
            if error and not self._failures:
                self._failures.append(error)
            if waiter and not waiter.done():
                waiter.set_result(None)

        settled.add_done_callback(done)
        if waiter is None:
            return
        self._awaited[item] = waiter
        try:
            await waiter
        finally:
            del self._awaited[item]
        self._raise_failure()

    def _relax(self) -> None:
        """Releases the callers of pending items, which no longer need to be sent at once."""
        self._checkpoints.relax(set(self._awaited))
        for waiter in self._awaited.values():
            if not waiter.done():
                waiter.set_result(None)

    async def _assert_replaces(self, thread_id: str, ns: str, checkpoint_id: str) -> None:
        """Raises unless the checkpoint exists: durability "exit" puts one again.

        A new one below the newest id of its namespace would be written but never read.
        """
        await self.flush()
        found, newest = await self._checkpoints.read(
            CheckpointQuery(thread_id=thread_id, ns=ns, id=checkpoint_id, limit=1)
        )
        if not found:
            raise CheckpointOrderError(thread_id, ns, checkpoint_id, newest)

    def _guard(self, thread_id: str) -> HeadGuard | None:
        if not self._guarded:
            return None
        return HeadGuard(thread_id, list({"": "", **self._newest.in_thread(thread_id)}.items()))

    def _is_last(self, ns: str, checkpoint: Checkpoint) -> bool:
        if ns or not self._fence or self._triggers is None:
            return False
        return nothing_follows(cast(Mapping[str, Any], checkpoint), self._triggers)

    def _blob(self, thread_id: str, ns: str, channel: str, version: str, values: Mapping[str, Any]) -> BlobRow:
        row = BlobRow(thread_id, ns, channel, version, "empty", None)
        if channel in values:
            self._lists.store(row, values[channel], lambda typed: self._checked(thread_id, channel, typed))
        return row

    def _checked(self, thread_id: str, channel: str, typed: tuple[str, bytes]) -> tuple[str, bytes]:
        """Raises ValueTooLargeError when a value as it is stored exceeds the limit."""
        limit = self._checkpoints.max_value_bytes
        if len(typed[1]) > limit:
            raise ValueTooLargeError(thread_id, channel, len(typed[1]), limit)
        return typed

    def _raise_failure(self) -> None:
        """Raises the first failure: later writes would depend on lost ones, so none follow it."""
        if self._failures:
            raise self._failures[0]


def _retrieve(future: asyncio.Future[Any]) -> None:
    """Marks a failure as seen: it is raised by `flush` as well."""
    if not future.cancelled():
        future.exception()
