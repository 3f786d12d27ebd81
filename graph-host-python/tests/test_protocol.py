"""Frames of the host protocol."""

from __future__ import annotations

import asyncio
import inspect
import re
import socket
import time
from typing import Any, cast, get_args, get_type_hints

import pytest

from heddle_host.frames import ServerFrame
from heddle_host.host import Host
from heddle_host.protocol import Connection, FrameReader, encode_frame


def read(chunks: list[bytes]) -> list[tuple[dict[str, Any], bytes]]:
    frames: list[tuple[dict[str, Any], bytes]] = []
    reader = FrameReader(lambda header, body: frames.append((header, body)))
    for chunk in chunks:
        reader.push(chunk)
    return frames


def test_frames_are_read_from_chunks_of_any_size() -> None:
    sent: list[tuple[dict[str, Any], bytes]] = [({"t": "a", "text": "ä\n"}, b""), ({"t": "b"}, b"\0" * 300)]
    stream = b"".join(encode_frame(*frame) for frame in sent)
    for size in (1, 3, 8, len(stream)):
        assert read([stream[at : at + size] for at in range(0, len(stream), size)]) == sent


def test_an_incomplete_frame_is_kept_back() -> None:
    assert read([encode_frame({"t": "a"}, b"body")[:-1]]) == []


NAMES = [frame for union in get_args(ServerFrame) for frame in get_args(get_type_hints(union)["t"])]


def test_frames_of_the_server_have_different_names() -> None:
    assert len(set(NAMES)) == len(NAMES) > 10


def test_the_host_handles_every_frame_of_the_server() -> None:
    # pyright rejects a frame that no case handles; this shows that no case is for a frame that does not exist
    cases = re.findall(r'^            case "([\w.]+)":', inspect.getsource(Host._handle), re.M)
    assert sorted(cases) == sorted(NAMES)


def test_an_unknown_frame_is_an_error_that_names_it() -> None:
    host = Host.__new__(Host)
    with pytest.raises(ValueError, match=r'Unknown frame "run\.pause"'):
        host._handle(cast(ServerFrame, {"t": "run.pause"}), b"")


async def test_events_that_follow_each_other_are_written_once_a_millisecond() -> None:
    ours, theirs = socket.socketpair()
    connection = await Connection.open(theirs.detach(), lambda *_: None, lambda: None)
    arrived: list[tuple[dict[str, Any], bytes]] = []
    reader = FrameReader(lambda header, body: arrived.append((header, body)))
    ours.setblocking(False)
    reads = 0

    async def receive() -> None:
        nonlocal reads
        while chunk := await asyncio.get_running_loop().sock_recv(ours, 1 << 20):
            reads += 1
            reader.push(chunk)

    receiving = asyncio.create_task(receive())
    started_at = time.monotonic()
    for n in range(5000):
        connection.send({"t": "event", "run_id": "r", "event": "custom"}, str(n).encode())
        await asyncio.sleep(0)
    await connection.end()
    while len(arrived) < 5000:
        await asyncio.sleep(0.001)
    assert reads < (time.monotonic() - started_at) * 1000 + 20
    assert [int(body) for _, body in arrived] == list(range(5000))
    # without others that follow, too
    connection.send({"t": "event", "run_id": "r", "event": "custom"}, b"5000")
    connection.send({"t": "event", "run_id": "r", "event": "custom"}, b"5001")
    while len(arrived) < 5002:
        await asyncio.sleep(0.001)
    receiving.cancel()
    ours.close()
