"""Reads the newest checkpoints of threads with the official saver: a thread id per line in, a JSON object per line out."""

import json
import sys

from langgraph.checkpoint.postgres import PostgresSaver

with PostgresSaver.from_conn_string(sys.argv[1]) as saver:
    for line in sys.stdin:
        try:
            found = saver.get_tuple({"configurable": {"thread_id": line.strip(), "checkpoint_ns": ""}})
            head = found and {"id": found.checkpoint["id"], "done": found.checkpoint["channel_values"].get("done")}
        except Exception as error:
            head = {"error": repr(error)}
        print(json.dumps(head), flush=True)
