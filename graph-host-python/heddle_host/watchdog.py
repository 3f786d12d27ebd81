"""Kills the process when its server is gone, even while user code blocks the event loop.

A thread reads descriptor 4, on which the server sends a byte every 250 ms. The end of the stream, or silence for
`silence_ms`, means that results have no receiver, and that the run may already be running elsewhere. Code that holds
the interpreter's lock for long stops this thread too; the server then kills the process by its missing pong.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time


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


def start_watchdog(silence_ms: int, fd: int) -> None:
    threading.Thread(
        target=_watch, args=(fd, silence_ms / 1000, os.getpid()), name="heddle watchdog", daemon=True
    ).start()


def _watch(fd: int, silence: float, pid: int) -> None:
    poll = select.poll()
    poll.register(fd, select.POLLIN | select.POLLHUP | select.POLLERR)
    last = time.monotonic()
    while True:
        try:
            ready = poll.poll(min(500, silence * 250))
            if ready:
                if not os.read(fd, 4096):
                    break
                last = time.monotonic()
            elif time.monotonic() - last > silence:
                break
        except (BlockingIOError, InterruptedError):
            continue
        except OSError:
            break
    # a fork of the process has this thread's memory, but not the thread
    if os.getpid() == pid:
        os.kill(pid, signal.SIGKILL)
