"""Frames of the host protocol."""

from __future__ import annotations

from typing import Any

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
