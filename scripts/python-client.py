"""What the Python client sends in production: batches packed with zstd, single creates and updates, attachments,
feedback within batches. Run by python-client.ts."""

import datetime
import decimal
import logging
import os
import sys
import time
import uuid

PROJECT = f"python {uuid.uuid4()}"
os.environ["LANGSMITH_PROJECT"] = PROJECT


class Warnings(logging.Handler):
    """The client tells of traces that were not taken by a warning, and of nothing else."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.told = []

    def emit(self, record):
        self.told.append(record.getMessage())


warnings = Warnings()
logging.getLogger("langsmith").addHandler(warnings)

from langsmith import Client, traceable  # noqa: E402
from langsmith.schemas import Attachment  # noqa: E402

client = Client()


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def until(read, wanted, seconds=5):
    deadline = time.monotonic() + seconds
    while True:
        found = read()
        if wanted(found) or time.monotonic() > deadline:
            return found
        time.sleep(0.05)


def equal(found, wanted):
    if found != wanted:
        sys.exit(f"python: expected {wanted!r}, found {found!r}")


@traceable(run_type="tool")
def child(n):
    return {"n": n + 1}


@traceable(metadata={"thread_id": "T"}, tags=["a"])
def parent(n):
    child(n)
    return child(n + 1)


@traceable
def failing():
    raise ValueError("on purpose")


def batches_with_zstd():
    flags = client.info.instance_flags
    equal(flags["zstd_compression_enabled"], True)
    for n in range(100):
        parent(n)
    try:
        failing()
    except ValueError:
        pass
    client.flush()
    runs = until(lambda: list(client.list_runs(project_name=PROJECT)), lambda found: len(found) == 301)
    equal(len(runs), 301)
    equal({run.status for run in runs}, {"success", "error"})
    root = next(run for run in runs if run.name == "parent")
    children = [run for run in runs if run.trace_id == root.id and run.id != root.id]
    equal([run.parent_run_id for run in children], [root.id, root.id])
    equal(root.metadata["thread_id"], "T")


def single_create_and_update():
    single = Client(auto_batch_tracing=False)
    id = uuid.uuid4()
    single.create_run("single", {"a": 1}, "llm", id=id, project_name=PROJECT, start_time=now(), tags=["kept"])
    usage = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3, "input_cost": 1e-6}
    # everything that is not given goes as null
    single.update_run(id, end_time=now(), outputs={"usage_metadata": usage})
    run = single.read_run(id)
    equal((run.name, run.run_type, run.inputs, run.tags, run.status), ("single", "llm", {"a": 1}, ["kept"], "success"))
    equal((run.total_tokens, run.prompt_cost, run.total_cost), (3, decimal.Decimal("1e-6"), decimal.Decimal("1e-6")))


def update_before_create():
    single = Client(auto_batch_tracing=False)
    id = uuid.uuid4()
    single.update_run(id, end_time=now(), outputs={"early": True})
    single.create_run("late", {"b": 2}, "chain", id=id, project_name=PROJECT, start_time=now())
    run = until(lambda: single.read_run(id), lambda found: found.outputs)
    equal((run.name, run.outputs), ("late", {"early": True}))


def attachments():
    id, start = uuid.uuid4(), now()
    content = bytes(range(256))
    client.create_run(
        "with a file",
        {},
        "chain",
        id=id,
        trace_id=id,
        dotted_order=f"{start.strftime('%Y%m%dT%H%M%S%fZ')}{id}",
        start_time=start,
        project_name=PROJECT,
        attachments={"file": Attachment(mime_type="application/x-test", data=content)},
    )
    client.flush()
    run = client.read_run(id)
    equal(run.attachments["file"]["reader"].read(), content)


for test in [batches_with_zstd, single_create_and_update, update_before_create, attachments]:
    test()
    print(f"python: {test.__name__.replace('_', ' ')}")
client.flush()
equal(warnings.told, [])
