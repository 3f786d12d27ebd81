"""Connections that all savers of a host process share: one for writes, a few for reads."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from ..postgres import Address, Connection, ConnectionLostError, Parameter, Row, parse_url
from .delta_history import StoredHistory, read_delta_history
from .errors import DatabaseAwayError, FencedError, HeadMovedError, is_passing_error
from .last_heads import LastHeads
from .read_statement import (
    CheckpointQuery,
    StoredCheckpoint,
    read_checkpoints,
)
from .write_statement import FINISH_STATEMENT, WRITE_STATEMENT, Finished, StatementBuilder, WriteItem

T = TypeVar("T")

_MAX_BATCH_BYTES = 8 * 1024 * 1024
# Longest delay of a lazy item, unless an earlier statement carries it.
_LAZY_SECONDS = 0.01
# Minimum time for which each statement is tried, however long the database has been unreachable before.
_OWN_TRY_SECONDS = 0.5

_SETTINGS = {
    # Plans are made once, possibly for tables that are still empty: force index scans.
    "jit": "off",
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
}


# Time for the first attempt to establish a session; doubled after each that takes longer.
_START_SECONDS = 2.0
_MAX_START_SECONDS = 10.0
_GRACE_SECONDS = 0.1


class Session(Protocol):
    async def fetch(self, text: str, parameters: list[Parameter]) -> list[Row]: ...

    def drop_idle(self) -> None:
        """Closes the connection unless a statement is in flight; the next one opens another."""

    def close(self) -> None: ...


class SilentDatabaseError(ConnectionLostError):
    """The other end of the connection is gone or frozen, without a word."""


class _Silence:
    """Closes a connection whose answer does not arrive in time. `is_over`: it has done so."""

    def __init__(self, connection: Connection, seconds: float) -> None:
        self.is_over = False
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(seconds, self._grant_grace)

    def _grant_grace(self) -> None:
        # read first any answer that arrived while user code blocked the loop
        self._timer = self._loop.call_later(_GRACE_SECONDS, self._close)

    def _close(self) -> None:
        self.is_over = True
        self._connection.abort()

    def cancel(self) -> None:
        self._timer.cancel()


class _Session:
    """A connection that is opened when it is needed, and again after a loss."""

    def __init__(self, address: Address, name: str, silence: float) -> None:
        self._address = address
        self._name = name
        self._silence = silence
        self._connection: Connection | None = None
        self._opening: asyncio.Task[Connection] | None = None
        self._start_seconds = _START_SECONDS
        self._in_flight = 0

    async def fetch(self, text: str, parameters: list[Parameter]) -> list[Row]:
        self._in_flight += 1
        try:
            connection = self._connection
            if connection is None or connection.closed:
                connection = await self._open()
            silence = _Silence(connection, self._silence)
            try:
                return await connection.fetch(text, parameters)
            except ConnectionLostError:
                if silence.is_over:
                    raise SilentDatabaseError("The database did not answer") from None
                raise
            finally:
                silence.cancel()
        finally:
            self._in_flight -= 1

    def drop_idle(self) -> None:
        if self._connection and self._in_flight == 0:
            self._connection.abort()

    async def _open(self) -> Connection:
        if self._opening is None:
            parameters = {"application_name": f"heddle checkpoint {self._name}"}
            opening = Connection.open(self._address, parameters, self._start_seconds, _SETTINGS)
            self._opening = asyncio.create_task(opening)
        opening = self._opening
        try:
            connection = await asyncio.shield(opening)
            self._start_seconds = _START_SECONDS
        except asyncio.TimeoutError:
            self._start_seconds = min(self._start_seconds * 2, _MAX_START_SECONDS)
            raise
        finally:
            if self._opening is opening and opening.done():
                self._opening = None
        self._connection = connection
        return connection

    def close(self) -> None:
        if self._connection:
            self._connection.close()


def _connecting(address: Address, silence: float) -> Callable[[str], Session]:
    return lambda name: _Session(address, name, silence)


class _Queued:
    __slots__ = ("future", "item", "urgent")

    def __init__(self, item: WriteItem, future: asyncio.Future[Finished | None], urgent: bool) -> None:
        self.item = item
        self.future = future
        self.urgent = urgent


class CheckpointDatabase:
    def __init__(
        self,
        url: str,
        socket: str | None = None,
        *,
        away_seconds: float = 60,
        silence_seconds: float = 10,
        readers: int = 3,
        max_value_bytes: int = 64 * 2**20,
        open_session: Callable[[str], Session] | None = None,
    ) -> None:
        """`open_session` creates the session of a name, instead of one with the database at `url`."""
        open_session = open_session or _connecting(parse_url(url, socket or None), silence_seconds)
        self._away_seconds = away_seconds
        # largest value of a channel
        self.max_value_bytes = max_value_bytes
        self._writer = Writer(open_session("writer"), away_seconds)
        self._readers = [open_session("reader") for _ in range(readers)]
        self._next_reader = 0
        self.last_heads = LastHeads()

    async def prepare(self) -> None:
        """Opens the connection for writes and plans its statements. Failures are left to the first write."""
        await self._writer.prepare()

    def write(self, item: WriteItem, lazy: bool) -> asyncio.Future[Finished | None]:
        return self._writer.write(item, lazy)

    def relax(self, items: set[WriteItem]) -> None:
        self._writer.relax(items)

    def hurry(self) -> None:
        self._writer.hurry()

    async def read(self, query: CheckpointQuery) -> tuple[list[StoredCheckpoint], str | None]:
        return await self._patiently(lambda: read_checkpoints(self._fetch, query))

    async def read_delta_history(
        self, thread_id: str, ns: str, checkpoint_id: str | None, channels: list[str]
    ) -> dict[str, StoredHistory]:
        return await self._patiently(lambda: read_delta_history(self._fetch, thread_id, ns, checkpoint_id, channels))

    async def fetch(self, text: str, parameters: list[Parameter]) -> list[Row]:
        return await self._patiently(lambda: self._fetch(text, parameters))

    def close(self) -> None:
        self._writer.close()
        for reader in self._readers:
            reader.close()

    async def _fetch(self, text: str, parameters: list[Parameter]) -> list[Row]:
        self._next_reader = (self._next_reader + 1) % len(self._readers)
        try:
            return await self._readers[self._next_reader].fetch(text, parameters)
        except SilentDatabaseError:
            # the others were probably lost with it: each would cost the same wait
            for reader in self._readers:
                reader.drop_idle()
            raise

    async def _patiently(self, work: Callable[[], Awaitable[T]]) -> T:
        since = time.monotonic()
        pause = 0.02
        while True:
            try:
                return await work()
            except Exception as error:
                if not is_passing_error(error):
                    raise
                away = time.monotonic() - since
                if away >= self._away_seconds:
                    raise DatabaseAwayError(away) from error
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.5)


class Writer:
    """Writes the items of concurrent runs over one connection, in order of arrival.

    While a statement is in flight the next batch gathers, so that many runs share one round trip and one flush of the
    WAL. A future resolves when its item is committed. Because there is one connection, a committed item implies that
    all items before it are committed. A lazy item does not trigger a statement: it joins the next one.
    """

    def __init__(self, session: Session, away_seconds: float) -> None:
        self._session = session
        self._away_seconds = away_seconds
        self._queue: list[_Queued] = []
        self._busy = False
        self._scheduled = False
        self._later: asyncio.TimerHandle | None = None
        self._away_since: float | None = None
        self._task: asyncio.Task[None] | None = None

    def write(self, item: WriteItem, lazy: bool) -> asyncio.Future[Finished | None]:
        """Fails with FencedError, HeadMovedError, DatabaseAwayError, or the database's own error."""
        future: asyncio.Future[Finished | None] = asyncio.get_running_loop().create_future()
        self._queue.append(_Queued(item, future, not lazy))
        if not lazy:
            self._schedule()
        elif not self._busy:
            self._wait()
        return future

    async def prepare(self) -> None:
        empty = StatementBuilder()
        try:
            await self._session.fetch(WRITE_STATEMENT, empty.parameters())
            await self._session.fetch(FINISH_STATEMENT, empty.parameters(with_ends=True))
        except Exception:
            return

    def hurry(self) -> None:
        for queued in self._queue:
            queued.urgent = True
        self._schedule()

    def relax(self, items: set[WriteItem]) -> None:
        """Marks unsent items as lazy: no caller waits for them any more."""
        for queued in self._queue:
            if queued.item in items:
                queued.urgent = False

    def close(self) -> None:
        self._session.close()

    def _schedule(self) -> None:
        # call_soon: a step's writes and its checkpoint arrive in one turn
        if self._busy or self._scheduled or not self._queue:
            return
        self._scheduled = True
        asyncio.get_running_loop().call_soon(self._start)

    def _start(self) -> None:
        self._scheduled = False
        self._busy = True
        self._task = asyncio.create_task(self._run())

    def _wait(self) -> None:
        if self._later is None:
            self._later = asyncio.get_running_loop().call_later(_LAZY_SECONDS, self._time_is_up)

    def _time_is_up(self) -> None:
        self._later = None
        self.hurry()

    async def _run(self) -> None:
        if self._later:
            self._later.cancel()
            self._later = None
        try:
            while any(queued.urgent for queued in self._queue):
                builder, batch = self._next_batch()
                if batch:
                    await self._commit(builder, batch)
        finally:
            self._busy = False
            if any(queued.urgent for queued in self._queue):
                self._schedule()
            elif self._queue:
                self._wait()

    def _next_batch(self) -> tuple[StatementBuilder, list[_Queued]]:
        """Takes the items that fit into the next statement. Fails an item that cannot be encoded."""
        builder = StatementBuilder()
        size = 0
        count = 0
        for queued in self._queue:
            try:
                size += queued.item.size
                if (count and size > _MAX_BATCH_BYTES) or not builder.add(queued.item):
                    break
            except Exception as error:
                # from the start, because the builder may contain a part of the item
                del self._queue[count]
                if not queued.future.done():
                    queued.future.set_exception(error)
                return self._next_batch()
            count += 1
        batch = self._queue[:count]
        del self._queue[:count]
        return builder, batch

    async def _commit(self, builder: StatementBuilder, batch: list[_Queued]) -> None:
        try:
            rows, retried = await self._send(builder)
        except Exception as error:
            if len(batch) == 1 or isinstance(error, DatabaseAwayError):
                for queued in batch:
                    if not queued.future.done():
                        queued.future.set_exception(error)
                return
            # the database rejects one of them: send each separately, so that only that one fails
            for queued in batch:
                alone = StatementBuilder()
                alone.add(queued.item)
                await self._commit(alone, [queued])
            return
        held = {row[0] for row in rows if row[1] is None}
        ends = {row[1]: Finished(row[2], row[3]) for row in rows if row[1] is not None}
        for queued in batch:
            item, future = queued.item, queued.future
            if future.done():
                continue
            if not builder.was_fenced(item, held):
                future.set_result(ends.get(builder.fence_number(item)) if item.finish else None)
            elif retried and builder.ends_run(item):
                # sent twice, and the first time may have ended the run: whether it did is in the run's row
                future.set_result(Finished("lost", False) if item.finish else None)
            elif item.guard:
                future.set_exception(HeadMovedError(item.guard.thread_id))
            elif item.fence:
                future.set_exception(FencedError(*item.fence))

    async def _send(self, builder: StatementBuilder) -> tuple[list[Row], bool]:
        """Sends a statement, retrying while the database is unreachable: writes are idempotent."""
        statement, parameters = builder.statement, builder.parameters()
        retried = False
        started = time.monotonic()
        pause = 0.02
        while True:
            try:
                rows = await self._session.fetch(statement, parameters)
                self._away_since = None
                return rows, retried
            except Exception as error:
                if not is_passing_error(error):
                    raise
                retried = True
                now = time.monotonic()
                if self._away_since is None:
                    self._away_since = now
                away = now - self._away_since
                # a long-known outage may be over: the first error may belong to the old connection
                if away >= self._away_seconds and now - started >= min(self._away_seconds, _OWN_TRY_SECONDS):
                    raise DatabaseAwayError(away) from error
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.5)
