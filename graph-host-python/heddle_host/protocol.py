"""Frames of the graph host protocol, and the host's end of the stream.

The protocol is defined in host-kit/src/host-protocol.ts, from which frames.py is generated:

    frame := u32 header_length (LE) | u32 body_length (LE) | header (JSON, UTF-8) | body (bytes)
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Header = dict[str, Any]
OnFrame = Callable[[Header, bytes], None]

_PREFIX = struct.Struct("<II")


def encode_frame(header: Mapping[str, Any], *body: bytes) -> bytes:
    return b"".join(_frame_parts(header, body))


def _frame_parts(header: Mapping[str, Any], body: Sequence[bytes]) -> list[bytes]:
    head = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")
    return [_PREFIX.pack(len(head), sum(map(len, body))), head, *body]


class FrameReader:
    """Cuts a byte stream into frames and calls back once per frame, in order."""

    def __init__(self, on_frame: OnFrame) -> None:
        self._on_frame = on_frame
        self._buffer = bytearray()

    def push(self, chunk: bytes) -> None:
        buffer = self._buffer
        buffer += chunk
        at = 0
        while len(buffer) - at >= _PREFIX.size:
            head_length, body_length = _PREFIX.unpack_from(buffer, at)
            start = at + _PREFIX.size
            end = start + head_length + body_length
            if len(buffer) < end:
                break
            header = json.loads(bytes(buffer[start : start + head_length]))
            with memoryview(buffer) as view:
                body = bytes(view[start + head_length : end])
            at = end
            self._on_frame(header, body)
        if at:
            del buffer[:at]


# Number of unsent bytes above which the runs stop pulling events from LangGraph.
HIGH_WATER_BYTES = 1 << 20

# Seconds within which events after a write wait for more of them: a write wakes the server and its readers.
GATHER_S = 0.001


class Connection(asyncio.Protocol):
    """The host's end of the protocol stream.

    Frames of one turn of the event loop are sent in one write at its end; events that follow another write at once, up
    to GATHER_S later.
    """

    def __init__(self, on_frame: OnFrame, on_end: Callable[[], None]) -> None:
        self._reader = FrameReader(on_frame)
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._queued: list[bytes] = []
        self._ending = False
        self._wrote_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._writable = asyncio.Event()
        self._writable.set()

    @classmethod
    async def open(cls, fd: int, on_frame: OnFrame, on_end: Callable[[], None]) -> Connection:
        loop = asyncio.get_running_loop()
        sock = socket.socket(fileno=fd)
        sock.setblocking(False)
        # processes that user code starts must not hold the stream open
        sock.set_inheritable(False)
        _, connection = await loop.connect_accepted_socket(lambda: cls(on_frame, on_end), sock)
        return connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(high=HIGH_WATER_BYTES)

    def data_received(self, data: bytes) -> None:
        self._reader.push(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_end()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def send(self, header: Mapping[str, Any], *body: bytes) -> None:
        """Queues a frame, whose body may consist of several parts. Must be called on the event loop's thread."""
        self._queued += _frame_parts(header, body)
        if header["t"] == "event" and self._loop.time() < self._wrote_at + GATHER_S:
            self._timer = self._timer or self._loop.call_later(GATHER_S, self.flush)
        elif not self._ending:
            self._ending = True
            self._loop.call_soon(self.flush)

    def flush(self) -> None:
        """Sends queued frames now, because user code may keep the turn from ending."""
        self._ending = False
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if self._queued and self._transport and not self._transport.is_closing():
            self._wrote_at = self._loop.time()
            data = b"".join(self._queued)
            self._queued.clear()
            self._transport.write(data)

    @property
    def congested(self) -> bool:
        return not self._writable.is_set()

    async def drained(self) -> None:
        """Returns once the server keeps up with the runs again."""
        if not self._writable.is_set():
            await self._writable.wait()

    async def end(self) -> None:
        """Returns when all sent frames have reached the kernel."""
        self.flush()
        while self._transport and self._transport.get_write_buffer_size() > 0:
            await asyncio.sleep(0.005)
