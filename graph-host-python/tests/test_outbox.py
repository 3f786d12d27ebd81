"""The queue of traces for the trace platform, against a server that answers slowly."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from heddle_host.tracing.outbox import Batch, Outbox


class _Platform(ThreadingHTTPServer):
    def __init__(self) -> None:
        self.asked = threading.Event()
        self.received: list[bytes] = []
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: _Platform  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        self.server.asked.set()
        body = self.rfile.read(int(self.headers["content-length"]))
        time.sleep(0.05)
        self.server.received.append(body)
        self.send_response(202)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def platform() -> Iterator[_Platform]:
    server = _Platform()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def _batch(text: bytes) -> Batch:
    return Batch("/runs/batch", "application/json", text)


def test_batches_of_which_each_is_larger_than_the_queue_are_delivered(platform: _Platform) -> None:
    said: list[str] = []
    outbox = Outbox(100, said.append)
    outbox.direct({"state": "on", "url": platform.url, "key": None})
    outbox.add(_batch(b"a" * 150))
    assert platform.asked.wait(60)
    outbox.add(_batch(b"b" * 150))
    assert outbox.flush(60)
    assert [body[:1] for body in platform.received] == [b"a", b"b"]
    assert said == []


def test_a_full_queue_drops_its_oldest_batches_and_reports_them(platform: _Platform) -> None:
    said: list[str] = []
    outbox = Outbox(100, said.append)
    for n in range(12):
        outbox.add(_batch(b"%010d" % n))
        assert outbox.size <= 100
    outbox.direct({"state": "on", "url": platform.url, "key": None})
    assert outbox.flush(60)
    assert [int(body) for body in platform.received] == list(range(2, 12))
    assert said[0].startswith("A batch of traces could not be stored")
