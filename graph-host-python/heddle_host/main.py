"""Start of the graph host.

The environment defines what to serve: the working directory is the project's, `HEDDLE_HOST_PROJECT` lists its graphs.
Descriptors 3 and 4 connect to the server (see protocol.py and watchdog.py), which also writes and reads checkpoints.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from .debugger import listen_for_debugger
from .output import complain, mark_tasks, prefix_output, report_stray_error
from .own_client import install_own_client
from .watchdog import Watchdog, detach_children, start_watchdog

if TYPE_CHECKING:
    from .project_code.app import App

# A lifespan has failed, which may pass: other services may be unavailable.
_EXIT_LIFESPAN = 1
# EX_CONFIG of sysexits.h: a restart is pointless until the project changes.
_EXIT_CONFIG = 78
_PROTOCOL_FD = 3
_WATCHDOG_FD = 4
# Threads in which synchronous nodes and tools run.
_THREADS = 64


def main() -> None:
    detach_children(_PROTOCOL_FD, _WATCHDOG_FD)
    watchdog = start_watchdog(int(os.environ.get("HEDDLE_HOST_SILENCE_MS", "8000")), _WATCHDOG_FD)
    # Ctrl-C in a terminal reaches every process of the group; the server decides what happens to the runs.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    project = json.loads(os.environ.get("HEDDLE_HOST_PROJECT", "null"))
    max_value_bytes = int(os.environ.get("HEDDLE_HOST_MAX_VALUE_MB", "64")) * 2**20
    if not project:
        complain("HEDDLE_HOST_PROJECT is not set. Only a Heddle server can start a graph host.")
        sys.exit(_EXIT_CONFIG)
    debug_port = os.environ.get("HEDDLE_HOST_DEBUG_PORT")
    own_api = os.environ.get("HEDDLE_HOST_OWN_API")
    # Processes that user code starts are not graph hosts.
    for name in [name for name in os.environ if name.startswith("HEDDLE_HOST_")]:
        del os.environ[name]
    try:
        langgraph_version = version("langgraph")
    except PackageNotFoundError:
        complain(
            f"The environment of {sys.executable} has no langgraph. Install it there:\n"
            f"  {sys.executable} -m pip install langgraph"
        )
        sys.exit(_EXIT_CONFIG)
    prefix_output()
    install_own_client(own_api)
    listen_for_debugger(debug_port)
    serve(watchdog, project, max_value_bytes, langgraph_version)


def serve(
    watchdog: Watchdog,
    project: dict[str, Any],
    max_value_bytes: int,
    langgraph_version: str,
) -> None:
    from .task_contexts import install_task_contexts

    install_task_contexts()
    from .checkpoints.clock import install_checkpoint_ids

    # before the library's modules copy the function
    install_checkpoint_ids()
    from .blocked_loop import BlockedLoop
    from .graphs.load import load_graphs
    from .host import Host
    from .lifespan import Lifespan
    from .loaded_files import LoadedFiles
    from .project_code.load import LoadError
    from .runs.journal_steps import journal_steps

    journal_steps()
    graphs = load_graphs(project)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.set_exception_handler(report_stray_error)
    mark_tasks(loop)
    loop.set_default_executor(ThreadPoolExecutor(_THREADS, thread_name_prefix="heddle node"))

    async def start_app() -> App | None:
        from .project_code.app import App
        from .project_code.load import describe_load_error, load_export

        """Runs the lifespan of the project's app, so that nodes find what it opens, on their event loop."""
        path = project.get("app")
        if not path:
            return None
        try:
            app = App(load_export(project["dir"], path, "http.app"), path)
            await app.start()
        except BaseException as error:
            complain(f"The lifespan of http.app failed in a graph host: {describe_load_error(error)}")
            os._exit(_EXIT_LIFESPAN)
        return app

    async def start_lifespan() -> Lifespan:
        lifespan = Lifespan()
        try:
            await lifespan.start(project["dir"], project.get("lifespan") or [])
        except LoadError as error:
            # reported as the reason why the graphs cannot be loaded, and tried again, because it may pass
            sys.stderr.write(f"LoadError: {error}\n")
            sys.stderr.flush()
            os._exit(_EXIT_LIFESPAN)
        return lifespan

    async def start() -> None:
        app = await start_app()
        lifespan = await start_lifespan()
        host = Host(graphs, langgraph_version, LoadedFiles(project["dir"]), max_value_bytes, app, lifespan)
        watchdog.loop = BlockedLoop(loop, host.stop_run)
        # What is loaded by now stays: the collector need not look at it again. On a busy machine this takes seconds,
        # which would count as a blocked event loop once the host has said that it is ready.
        gc.collect()
        gc.freeze()
        await host.start(_PROTOCOL_FD)

    loop.run_until_complete(start())
    while True:
        try:
            loop.run_forever()
        except (SystemExit, KeyboardInterrupt):
            # A node's `sys.exit()` ends the node's task, whose run fails with it; the loop belongs to all runs.
            continue
