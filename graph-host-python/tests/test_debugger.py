import asyncio
import contextlib
import json
import random
import socket
import sys

import pytest

from heddle_host.debugger import listen_for_debugger

from .host_process import HostProcess


def free_port() -> int:
    # below the ports of outgoing connections, one of which could take it meanwhile
    while True:
        port = random.randint(10_240, 32_767)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


async def test_a_debugger_attaches_to_the_host(checkpoint_socket: str) -> None:
    port = free_port()
    host = await HostProcess.start(checkpoint_socket, HEDDLE_HOST_DEBUG_PORT=str(port))
    try:
        for _ in range(1200):
            if f"debugpy at 127.0.0.1:{port}" in host.output:
                break
            await asyncio.sleep(0.05)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        request = {"seq": 1, "type": "request", "command": "initialize", "arguments": {"adapterID": "test"}}
        body = json.dumps(request).encode()
        writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        answer: dict[str, object] = {}
        while answer.get("type") != "response":
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)
            answer = json.loads(await reader.readexactly(int(head.split(b":")[1])))
        assert (answer["command"], answer["success"]) == ("initialize", True)
        writer.close()
    finally:
        await host.end()


def test_names_the_command_that_installs_debugpy(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "debugpy", None)
    listen_for_debugger("5678")
    assert f"{sys.executable} -m pip install debugpy" in capfd.readouterr().err
