"""The saver while the database is unreachable, or rejects an item."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
import pytest_asyncio
from langgraph.checkpoint.base import empty_checkpoint

from heddle_host.checkpoints.errors import CheckpointError, DatabaseAwayError
from heddle_host.checkpoints.remote import RemoteCheckpoints
from heddle_host.checkpoints.rows import WriteItem, WriteRow
from heddle_host.checkpoints.saver import HeddleSaver
from heddle_host.runs.outcome import to_outcome

from .checkpoint_server import connect, serve_checkpoints
from .conftest import database_uri


class Proxy:
    """Passes connections to the database, while it is open."""

    def __init__(self) -> None:
        self.is_open = True
        self._server: asyncio.Server | None = None
        self._writers: list[asyncio.StreamWriter] = []

    async def start(self) -> str:
        address = urlsplit(database_uri())

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if not self.is_open:
                writer.close()
                return
            inner_reader, inner_writer = await asyncio.open_connection(address.hostname, address.port)
            self._writers += [writer, inner_writer]
            await asyncio.gather(
                self._pass(reader, inner_writer),
                self._pass(inner_reader, writer),
                return_exceptions=True,
            )

        self._server = await asyncio.start_server(accept, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        return address._replace(netloc=f"{address.username}:{address.password}@127.0.0.1:{port}").geturl()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await reader.read(65536):
            writer.write(chunk)
        writer.close()

    def close_all(self) -> None:
        self.is_open = False
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


async def newest(checkpoints: RemoteCheckpoints, thread_id: str) -> str | None:
    found = await HeddleSaver(checkpoints).aget_tuple({"configurable": {"thread_id": thread_id}})
    return found.checkpoint["id"] if found else None


async def test_writes_and_reads_wait_for_the_database(proxy: Proxy, checkpoints: RemoteCheckpoints) -> None:
    uri = await proxy.start()
    with contextlib.ExitStack() as stack:
        path = await asyncio.to_thread(stack.enter_context, serve_checkpoints(uri))
        behind_proxy, close = await connect(path)
        saver, thread_id = HeddleSaver(behind_proxy), str(uuid4())
        await put(saver, thread_id)
        await newest(behind_proxy, thread_id)
        proxy.close_all()
        writing = asyncio.ensure_future(put(saver, thread_id))
        reading = asyncio.ensure_future(newest(behind_proxy, thread_id))
        await asyncio.sleep(0.3)
        assert not writing.done() and not reading.done()
        proxy.is_open = True
        assert await asyncio.wait_for(writing, 60) == await newest(checkpoints, thread_id)
        assert await asyncio.wait_for(reading, 60) is not None
        close()


async def test_a_long_outage_ends_the_attempt_for_a_retry(proxy: Proxy, checkpoints: RemoteCheckpoints) -> None:
    uri = await proxy.start()
    with contextlib.ExitStack() as stack:
        path = await asyncio.to_thread(stack.enter_context, serve_checkpoints(uri, away_seconds=0.4))
        behind_proxy, close = await connect(path)
        proxy.close_all()
        saver, thread_id = HeddleSaver(behind_proxy), str(uuid4())
        with pytest.raises(DatabaseAwayError) as raised:
            await put(saver, thread_id)
        assert to_outcome(raised.value, None)["outcome"] == "retry"
        with pytest.raises(DatabaseAwayError):
            await newest(behind_proxy, thread_id)
        # nothing follows a lost put, so that later checkpoints do not lack it
        proxy.is_open = True
        with pytest.raises(DatabaseAwayError):
            await put(saver, thread_id)
        assert await newest(checkpoints, thread_id) is None
        close()


async def test_an_item_that_the_database_rejects_fails_alone(checkpoints: RemoteCheckpoints) -> None:
    def item(idx: Any) -> WriteItem:
        return WriteItem(writes=[WriteRow(str(uuid4()), "", "1", "task", idx, "text", "bytes", b"x", False)])

    results = await asyncio.gather(
        *(checkpoints.write(item(idx), False) for idx in (0, "first", 0)), return_exceptions=True
    )
    assert [type(result) for result in results] == [type(None), CheckpointError, type(None)]
    assert await asyncio.wait_for(checkpoints.write(WriteItem(), False), 60) is None
