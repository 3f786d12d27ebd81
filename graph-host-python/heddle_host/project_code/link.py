"""The duplex stream to the server: frames in, frames out."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Callable
from typing import Any

Header = dict[str, Any]
_PREFIX = struct.Struct("<II")


class Link(asyncio.Protocol):
    """Cuts the byte stream into frames and calls back once per frame, in order."""

    def __init__(self, on_frame: Callable[[Header, bytes], None], on_end: Callable[[], None]) -> None:
        self._on_frame = on_frame
        self._on_end = on_end
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None

    @classmethod
    async def open(cls, fd: int, on_frame: Callable[[Header, bytes], None], on_end: Callable[[], None]) -> Link:
        stream = socket.socket(fileno=fd)
        stream.setblocking(False)
        _, link = await asyncio.get_running_loop().create_connection(lambda: cls(on_frame, on_end), sock=stream)
        return link

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_end()

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer
        buffer += data
        at = 0
        while len(buffer) - at >= _PREFIX.size:
            head, body = _PREFIX.unpack_from(buffer, at)
            start = at + _PREFIX.size
            end = start + head + body
            if len(buffer) < end:
                break
            header = json.loads(buffer[start : start + head])
            frame = bytes(buffer[start + head : end])
            at = end
            self._on_frame(header, frame)
        del buffer[:at]

    def send(self, header: Header, body: bytes = b"") -> None:
        if self._transport is None or self._transport.is_closing():
            return
        head = json.dumps(header, separators=(",", ":")).encode()
        self._transport.write(_PREFIX.pack(len(head), len(body)) + head + body)
