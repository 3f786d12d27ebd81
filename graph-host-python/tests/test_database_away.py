"""The saver while the database is unreachable or silent, or rejects an item."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from langgraph.checkpoint.base import empty_checkpoint

from heddle_host.checkpoints.database import CheckpointDatabase
from heddle_host.checkpoints.errors import DatabaseAwayError
from heddle_host.checkpoints.saver import HeddleSaver
from heddle_host.checkpoints.write_statement import WriteItem
from heddle_host.postgres import parse_url
from heddle_host.runs.outcome import to_outcome

from .conftest import database_uri


class Proxy:
    """Passes connections to the database. `mode` is that of open and of new connections."""

    def __init__(self) -> None:
        self.mode = "open"
        self._server: asyncio.Server | None = None
        self._writers: list[asyncio.StreamWriter] = []
        self._generation = 0

    async def start(self) -> str:
        address = parse_url(database_uri())

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if self.mode == "closed":
                writer.close()
                return
            generation = self._generation
            inner_reader, inner_writer = await asyncio.open_connection(address.host, address.port)
            self._writers += [writer, inner_writer]
            await asyncio.gather(
                self._pass(reader, inner_writer, generation),
                self._pass(inner_reader, writer, generation),
                return_exceptions=True,
            )

        self._server = await asyncio.start_server(accept, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        return f"postgres://{address.user}:{address.password}@127.0.0.1:{port}/{address.database}?sslmode=disable"

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, generation: int) -> None:
        while chunk := await reader.read(65536):
            # a connection that has been silent stays so
            if self.mode == "silent" or generation < self._generation:
                return
            writer.write(chunk)
        writer.close()

    def silence_existing(self) -> None:
        """Lets open connections pass nothing any more, like those of a machine that is gone."""
        self._generation += 1

    def close_all(self) -> None:
        self.mode = "closed"
        for writer in self._writers:
            writer.close()
        self._writers.clear()

    def stop(self) -> None:
        self.close_all()
        if self._server:
            self._server.close()


@pytest_asyncio.fixture
async def proxy() -> AsyncIterator[Proxy]:
    started = Proxy()
    yield started
    started.stop()


async def put(saver: HeddleSaver, thread_id: str) -> str:
    checkpoint = empty_checkpoint()
    config: Any = {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}
    await saver.aput(config, checkpoint, {"source": "loop", "step": 1, "parents": {}}, {})
    return checkpoint["id"]


async def newest(thread_id: str) -> str | None:
    database = CheckpointDatabase(database_uri())
    found = await HeddleSaver(database).aget_tuple({"configurable": {"thread_id": thread_id}})
    database.close()
    return found.checkpoint["id"] if found else None


async def test_writes_and_reads_wait_for_the_database(proxy: Proxy) -> None:
    database = CheckpointDatabase(await proxy.start())
    saver, thread_id = HeddleSaver(database), str(uuid4())
    await put(saver, thread_id)
    await HeddleSaver(database).aget_tuple({"configurable": {"thread_id": thread_id}})
    proxy.close_all()
    writing = asyncio.ensure_future(put(saver, thread_id))
    reading = asyncio.ensure_future(HeddleSaver(database).aget_tuple({"configurable": {"thread_id": thread_id}}))
    await asyncio.sleep(0.3)
    assert not writing.done() and not reading.done()
    proxy.mode = "open"
    assert await asyncio.wait_for(writing, 3) == await newest(thread_id)
    assert await asyncio.wait_for(reading, 3) is not None
    database.close()


async def test_a_long_outage_ends_the_attempt_for_a_retry(proxy: Proxy) -> None:
    database = CheckpointDatabase(await proxy.start(), away_seconds=0.4)
    proxy.close_all()
    saver, thread_id = HeddleSaver(database), str(uuid4())
    started = time.monotonic()
    with pytest.raises(DatabaseAwayError) as raised:
        await put(saver, thread_id)
    assert 0.3 < time.monotonic() - started < 3
    assert to_outcome(raised.value, None)["outcome"] == "retry"
    with pytest.raises(DatabaseAwayError):
        await HeddleSaver(database).aget_tuple({"configurable": {"thread_id": thread_id}})
    # nothing follows a lost put, so that later checkpoints do not lack it
    proxy.mode = "open"
    with pytest.raises(DatabaseAwayError):
        await put(saver, thread_id)
    assert await newest(thread_id) is None
    database.close()


class Broken(WriteItem):
    @property
    def size(self) -> int:
        raise ValueError("cannot be encoded")


async def test_an_item_that_cannot_be_encoded_fails_alone(database: CheckpointDatabase) -> None:
    results = await asyncio.gather(
        database.write(WriteItem(), False),
        database.write(Broken(), False),
        database.write(WriteItem(), False),
        return_exceptions=True,
    )
    assert [type(result) for result in results] == [type(None), ValueError, type(None)]
    assert await asyncio.wait_for(database.write(WriteItem(), False), 3) is None


async def test_a_silent_database_is_asked_again_on_a_new_connection(proxy: Proxy) -> None:
    database = CheckpointDatabase(await proxy.start(), silence_seconds=0.4)
    saver, thread_id = HeddleSaver(database), str(uuid4())
    await put(saver, thread_id)
    proxy.mode = "silent"
    writing = asyncio.ensure_future(put(saver, thread_id))
    await asyncio.sleep(0.2)
    proxy.mode = "open"
    assert await asyncio.wait_for(writing, 5) == await newest(thread_id)
    database.close()


async def test_connections_lost_together_cost_one_wait(proxy: Proxy) -> None:
    silence = 0.6
    database = CheckpointDatabase(await proxy.start(), silence_seconds=silence)
    # opens all readers
    await asyncio.gather(*(database.fetch("select 1", []) for _ in range(3)))
    proxy.silence_existing()
    started = time.monotonic()
    assert await asyncio.wait_for(database.fetch("select 2", []), 10)
    assert time.monotonic() - started < 2 * silence
    database.close()
