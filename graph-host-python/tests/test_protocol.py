"""Frames of the host protocol."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from heddle_host.host import Host
from heddle_host.protocol import FrameReader, encode_frame


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


REPOSITORY = Path(__file__).parents[2]
PROTOCOL = (REPOSITORY / "graph-host" / "src" / "host-protocol.ts").read_text()


def declared(union: str) -> set[str]:
    """Returns the names of the frames of a union type of the protocol, with those of the types that it names."""
    body = re.search(
        rf"^export (?:type {union} =|interface {union} \{{)(.*?)^(?=export |\}}|/\*\*)", PROTOCOL, re.M | re.S
    )
    assert body, union
    names = set(re.findall(r'\bt: "([\w.]+)"', body[1]))
    for other in re.findall(r"^  \| (\w+)", body[1], re.M):
        names |= declared(other)
    return names


def test_the_host_handles_every_frame_of_the_server_and_no_other() -> None:
    assert declared("ServerFrame") == set(Host.FRAMES)


def test_the_host_sends_declared_frames_only() -> None:
    # the project's own code has a process with another protocol
    sent = {
        name
        for path in (REPOSITORY / "graph-host-python" / "heddle_host").rglob("*.py")
        if "project_code" not in path.parts
        for name in re.findall(r'"t": "([\w.]+)"', path.read_text())
    }
    # the warm-up stands in for the server
    assert sent - {"checkpoint.result", "run.start"} == declared("HostFrame")
