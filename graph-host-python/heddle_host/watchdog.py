"""Kills the process when its server is gone, and tells what blocks the event loop, even while user code blocks it.

A thread reads descriptor 4, on which the server sends a line every 250 ms. The end of the stream, or silence for
`silence_ms`, means that results have no receiver, and that the run may already be running elsewhere. A line `?` asks
what blocks the loop, `!` and JSON asks to interrupt it (see host-protocol.ts). Code that holds the interpreter's lock
for long stops this thread too; the server then kills the process by its missing pong.
"""

from __future__ import annotations

import json
import os
import select
import signal
import threading
import time
from typing import Any, Protocol


class BlockedLoop(Protocol):
    def describe(self) -> dict[str, Any]: ...

    def interrupt(self, request: dict[str, Any]) -> None: ...


class Watchdog:
    """`loop` is set once there is a loop that can be blocked."""

    loop: BlockedLoop | None = None


def detach_children(*fds: int) -> None:
    """Keeps processes that user code starts from holding the server's streams open after this process has ended."""
    for fd in fds:
        os.set_inheritable(fd, False)

    def detach() -> None:
        # not closed: objects of the parent would close whatever gets the number next
        nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        for fd in fds:
            os.dup2(nothing, fd, inheritable=False)
        os.close(nothing)

    os.register_at_fork(after_in_child=detach)


def start_watchdog(silence_ms: int, fd: int) -> Watchdog:
    watchdog = Watchdog()
    threading.Thread(
        target=_watch, args=(watchdog, fd, silence_ms / 1000, os.getpid()), name="heddle watchdog", daemon=True
    ).start()
    return watchdog


def _watch(watchdog: Watchdog, fd: int, silence: float, pid: int) -> None:
    poll = select.poll()
    poll.register(fd, select.POLLIN | select.POLLHUP | select.POLLERR)
    last = time.monotonic()
    received = b""
    while True:
        try:
            ready = poll.poll(min(500, silence * 250))
            if ready:
                chunk = os.read(fd, 4096)
                if not chunk:
                    break
                last = time.monotonic()
                *lines, received = (received + chunk).split(b"\n")
                for line in lines:
                    if line:
                        _answer(watchdog, fd, line)
            elif time.monotonic() - last > silence:
                break
        except (BlockingIOError, InterruptedError):
            continue
        except OSError:
            break
    # a fork of the process has this thread's memory, but not the thread
    if os.getpid() == pid:
        os.kill(pid, signal.SIGKILL)


def _answer(watchdog: Watchdog, fd: int, line: bytes) -> None:
    loop = watchdog.loop
    if loop is None:
        return
    try:
        if line == b"?":
            os.write(fd, json.dumps(loop.describe()).encode() + b"\n")
        elif line.startswith(b"!"):
            loop.interrupt(json.loads(line[1:]))
    except OSError:
        raise
    except Exception:
        # what blocks the loop stays unknown
        return
