"""What the Python client sends: batches compressed with zstd, single creates and updates, attachments, feedback within
batches and beside them, links, projects, datasets, evaluations. Run by python-client.ts."""

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
from langsmith.schemas import Attachment, FeedbackSourceType  # noqa: E402
from langsmith.utils import LangSmithNotFoundError  # noqa: E402

client = Client()


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def until(read, wanted, seconds=30):
    """What is read when it is as wanted, or at the end of the time. Ingested traces, and the project that they create,
    are found some time after they were accepted."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            found = read()
            if wanted(found) or time.monotonic() > deadline:
                return found
        except LangSmithNotFoundError:
            if time.monotonic() > deadline:
                raise
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
    run = until(lambda: single.read_run(id), lambda found: found.outputs)
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
    run = until(lambda: client.read_run(id), lambda found: found.attachments)
    equal(run.attachments["file"]["reader"].read(), content)


def finished_run():
    id = uuid.uuid4()
    child(1, langsmith_extra={"run_id": id})
    client.flush()
    until(lambda: list(client.list_runs(project_name=PROJECT, id=[id])), lambda found: found)
    return id


def feedback():
    id = finished_run()
    # with a trace it goes with the batches, without one by itself
    client.create_feedback(id, "alone", score=1, comment="c")
    client.create_feedback(id, "batched", trace_id=id, score=0.5, value={"a": 1}, source_run_id=uuid.uuid4())
    client.create_feedback(project_id=client.read_project(project_name=PROJECT).id, key="of the project", score=1)
    client.create_feedback(uuid.uuid4(), "before its run", score=1, extend_trace_retention=False)
    client.flush()
    given = until(lambda: list(client.list_feedback(run_ids=[id])), lambda found: len(found) == 2)
    equal({one.key: float(one.score) for one in given}, {"alone": 1.0, "batched": 0.5})
    of_api = client.list_feedback(run_ids=[id], feedback_source_type=[FeedbackSourceType.API])
    equal(len(list(of_api)), 2)
    token = client.create_presigned_feedback_token(id, "linked")
    client.create_feedback_from_token(token.url, score=1, comment="by a link")
    equal([one.comment for one in client.list_feedback(run_ids=[id], feedback_key=["linked"])], ["by a link"])


def projects_and_sharing():
    name = f"made {uuid.uuid4()}"
    made = client.create_project(name, metadata={"team": "x"}, description="d")
    client.update_project(made.id, description="e")
    equal([one.description for one in client.list_projects(name_contains=name, metadata={"team": "x"})], ["e"])
    client.delete_project(project_id=made.id)
    equal(client.has_project(name), False)
    id = finished_run()
    token = client.share_run(id).split("/public/")[1].split("/")[0]
    equal([run.id for run in client.list_shared_runs(token)], [id])
    client.unshare_run(id)
    equal(client.run_is_shared(id), False)
    equal(client.get_run_stats(project_names=[PROJECT], is_root=True)["error_rate"] > 0, True)


def datasets_and_evaluation():
    name = f"dataset {uuid.uuid4()}"
    dataset = client.create_dataset(name, metadata={"a": 1}, inputs_schema={"type": "object"})
    client.create_examples(
        dataset_id=dataset.id,
        examples=[{"inputs": {"q": n}, "outputs": {"a": n}, "split": ["train"]} for n in range(3)],
    )
    examples = list(client.list_examples(dataset_id=dataset.id, splits=["train"]))
    equal(sorted(one.inputs["q"] for one in examples), [0, 1, 2])
    client.update_example(examples[0].id, metadata={"z": 1})
    client.update_dataset_tag(dataset_id=dataset.id, as_of=examples[0].modified_at, tag="first")
    equal(client.read_dataset_version(dataset_id=dataset.id, tag="first").as_of, examples[0].modified_at)
    results = client.evaluate(
        lambda inputs: {"a": inputs["q"]},
        data=name,
        evaluators=[lambda run, example: {"key": "right", "score": run.outputs == example.outputs}],
        summary_evaluators=[lambda runs, examples: {"key": "all", "score": len(runs)}],
        experiment_prefix="python",
    )
    experiment = client.read_project(project_name=results.experiment_name, include_stats=True)
    client.flush()
    stats = until(
        lambda: client.read_project(project_name=results.experiment_name, include_stats=True).feedback_stats,
        lambda found: found.get("right", {}).get("n") == 3,
    )
    equal((stats["right"]["n"], stats["right"]["avg"]), (3, 1.0))
    shared = client.share_dataset(dataset_id=dataset.id)["share_token"]
    equal([one.id for one in client.list_shared_projects(dataset_share_token=shared)], [experiment.id])
    equal(len(list(client.list_shared_examples(shared))), 3)
    client.delete_dataset(dataset_id=dataset.id)


tests = [batches_with_zstd, single_create_and_update, update_before_create, attachments]
for test in [*tests, feedback, projects_and_sharing, datasets_and_evaluation]:
    test()
    print(f"python: {test.__name__.replace('_', ' ')}")
client.flush()
equal(warnings.told, [])
