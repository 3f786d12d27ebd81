import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

# starts the process and ends at once, as a server that is killed
SERVER = """
import os, subprocess, sys
os.dup2(int(sys.argv[1]), 3)
process = subprocess.Popen([sys.executable, "-m", "heddle_host.project_code"], pass_fds=[3])
print(process.pid, flush=True)
"""


def test_ends_when_its_server_ended_while_it_started(tmp_path: Path) -> None:
    (tmp_path / "blocks.py").write_text("while True:\n    pass\n")
    project = {"dir": str(tmp_path), "app": "./blocks.py:app"}
    kept, inherited = socket.socketpair()
    with kept, inherited:
        server = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(inherited.fileno())],
            pass_fds=[inherited.fileno()],
            env={**os.environ, "HEDDLE_CODE_PROJECT": json.dumps(project)},
            stdout=subprocess.PIPE,
        )
        assert server.stdout is not None
        pid = int(server.stdout.readline())
    server.wait()
    try:
        # the process has the other end of its output
        server.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        os.kill(pid, signal.SIGKILL)
        pytest.fail("it runs without a server")
