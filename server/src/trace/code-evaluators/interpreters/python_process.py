"""
Process that evaluates Python, one evaluation after another; javascript-process.mjs describes the protocol. For each
evaluation it forks, so that every one starts with the same, fresh interpreter. The fork reads the order and writes the
reply itself: this process never has contents of a workspace in its memory, which later forks inherit.
"""

import gc
import json
import math
import os
import select
import signal
import sys

COMMANDS, STATUS, ORDERS, REPLIES = 0, 1, 3, 4
LIMITS = json.loads(sys.argv[1])

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from python_evaluation import evaluate  # noqa: E402

if LIMITS["confined"]:
    import python_confinement  # noqa: E402
sys.path.pop(0)


def say(line):
    os.write(STATUS, f"{line}\n".encode())


def create_confinement():
    """Returns what confines a fork, proved in a fork; None if evaluations shall not be confined."""
    if not LIMITS["confined"]:
        return None
    try:
        confinement = python_confinement.Confinement()
        pid = os.fork()
        if pid == 0:
            os._exit(prove(confinement))
        _, status = os.waitpid(pid, 0)
        if status != 0:
            raise OSError(f"the filter has no effect (status {status})")
        return confinement
    except OSError as error:
        advice = "Set HEDDLE_CODE_EVALUATORS=unconfined to run it without protection, for development only."
        say(f"system calls cannot be filtered here: {error.strerror or error}. {advice}")
        sys.exit(1)


def prove(confinement):
    try:
        confine(confinement, os.getppid())
    except OSError:
        return 2
    for attempt in (lambda: os.open("/", os.O_RDONLY), os.fork, lambda: os.kill(os.getppid(), 0)):
        try:
            attempt()
            return 3
        except PermissionError:
            pass
    return 0


def confine(confinement, parent):
    confinement.end_with_parent(parent, signal.SIGKILL)
    python_confinement.limit(LIMITS["memoryBytes"], math.ceil(LIMITS["seconds"]) + 1)
    confinement.install()


def run_fork(confinement, parent, alive):
    """Evaluates one order. Only the pipe that tells the parent that this process lives stays open besides."""
    try:
        for descriptor in (COMMANDS, STATUS, 2):
            os.close(descriptor)
        if confinement is not None:
            confine(confinement, parent)
        evaluate(ORDERS, REPLIES, LIMITS)
        os._exit(0)
    finally:
        os._exit(1)


def serve(confinement):
    me = os.getpid()
    while os.read(COMMANDS, 1):
        ended, alive = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(ended)
            run_fork(confinement, me, alive)
        os.close(alive)
        # readable: the fork has ended, or the server has
        select.select([COMMANDS, ended], [], [])
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        os.close(ended)
        by = signal.Signals(status & 0x7F).name if status & 0x7F else f"code {status >> 8}"
        say("end" if status == 0 else f"end {by}")


if __name__ == "__main__":
    made = create_confinement()
    gc.collect()
    gc.freeze()
    say(f"ready {sys.version.split()[0]}")
    serve(made)
