"""``get_client()`` without a URL, in a separate process as a host's."""

import asyncio
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

PACKAGE = Path(__file__).parent.parent
SCRIPT = """
import asyncio, sys
from heddle_host.own_client import install_own_client
install_own_client(sys.argv[1])
from langgraph_sdk import get_client
client = get_client()
print([found["graph_id"] for found in asyncio.run(client.assistants.search())])
# another loop, and a credential that the caller chose
keyed = get_client(api_key="chosen", headers={"x-caller": "anna"})
print([found["graph_id"] for found in asyncio.run(keyed.assistants.search())])
"""


async def test_calls_the_server_with_its_key_but_without_the_key_of_another_platform() -> None:
    seen: list[tuple[str, dict[str, str]]] = []

    class Api(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            seen.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            body = b'[{"graph_id": "agent"}]'
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Api)
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"127.0.0.1:{server.server_port}"
    api = json.dumps({"url": f"http://{address}/team", "header": "x-own", "key": "k1"})
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            SCRIPT,
            api,
            env={**os.environ, "PYTHONPATH": str(PACKAGE), "LANGSMITH_API_KEY": "of-another-platform"},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await asyncio.wait_for(process.communicate(), 60)
    finally:
        server.shutdown()
    assert output.decode() == "['agent']\n['agent']\n"
    (path, first), (_, second) = seen
    assert (path, first["host"], first["x-own"]) == ("/team/assistants/search", address, "k1")
    assert "x-api-key" not in first
    assert (second["x-api-key"], second["x-caller"]) == ("chosen", "anna")
