"""What an application does with the Python client, run with the package of the interpreter:

    LANGSMITH_ENDPOINT=... LANGSMITH_API_KEY=... python python.py

Prints one JSON line a check: {"name", "error": null or the message, "absent": whether the client lacks the part}.
Deprecation and beta notices of the client's own methods are its authors' plans; every other warning is an error.
"""

import asyncio
import datetime
import http.server
import inspect
import json
import logging
import os
import sys
import threading
import time
import traceback
import uuid
import warnings as python_warnings

noted = []


class Collector(logging.Handler):
    def emit(self, record):
        noted.append(record.getMessage())


logging.getLogger("langsmith").addHandler(Collector(logging.WARNING))


def note_warning(message, category, *_rest, **_more):
    text = f"{category.__name__}: {message}"
    if "deprecat" not in text.lower() and "in beta" not in text:
        noted.append(text)


python_warnings.showwarning = note_warning

PROJECT = f"clients {uuid.uuid4()}"
os.environ["LANGSMITH_PROJECT"] = PROJECT
os.environ["LANGSMITH_TRACING"] = "true"

from langsmith import Client, traceable  # noqa: E402
from langsmith.schemas import Attachment  # noqa: E402
from langsmith.utils import LangSmithNotFoundError  # noqa: E402

client = Client()


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def equal(found, wanted):
    if found != wanted:
        raise AssertionError(f"expected {wanted!r}, found {found!r}")


def until(read, is_wanted, seconds=60):
    deadline = time.monotonic() + seconds
    while True:
        try:
            found = read()
            if is_wanted(found) or time.monotonic() > deadline:
                return found
        except LangSmithNotFoundError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.05)


@traceable(run_type="tool")
def child(n):
    return {"n": n + 1}


@traceable(metadata={"thread_id": "thread"}, tags=["tag"])
def parent(n):
    child(n)
    return child(n + 1)


@traceable
def failing():
    raise ValueError("on purpose")


def started_run(**more):
    id, start = uuid.uuid4(), now()
    order = f"{start.strftime('%Y%m%dT%H%M%S%fZ')}{id}"
    base = dict(id=id, trace_id=id, dotted_order=order, start_time=start, project_name=PROJECT)
    client.create_run("single", {"a": 1}, "llm", **base, **more)
    client.flush()
    return id, order


def tracing():
    for n in range(10):
        parent(n)
    try:
        failing()
    except ValueError:
        pass
    client.flush()
    runs = until(lambda: list(client.list_runs(project_name=PROJECT)), lambda found: len(found) == 31)
    equal(len(runs), 31)
    id, order = started_run()
    usage = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3, "input_token_details": {"cache_read": 1}}
    client.update_run(id, trace_id=id, dotted_order=order, end_time=now(), outputs={"usage_metadata": usage})
    client.flush()
    run = client.read_run(id)
    equal((run.inputs, run.status, run.total_tokens), ({"a": 1}, "success", 3))
    equal(run.prompt_token_details, {"cache_read": 1})


def attachments():
    content = bytes(range(256))
    id, _ = started_run(attachments={"file": Attachment(mime_type="application/x-test", data=content)})
    equal(client.read_run(id).attachments["file"]["reader"].read(), content)
    listed = list(client.list_runs(project_name=PROJECT, id=[id]))
    equal(listed[0].attachments["file"]["reader"].read(), content)


def queries():
    roots = list(client.list_runs(project_name=PROJECT, filter='eq(name, "parent")', is_root=True))
    equal(len(roots), 10)
    equal(len(client.read_run(roots[0].id, load_child_runs=True).child_runs), 2)
    equal(len(list(client.list_runs(project_name=PROJECT, run_type="tool", select=["outputs"], limit=3))), 3)
    # its start may have been counted before its end was sent
    failed = until(lambda: list(client.list_runs(project_name=PROJECT, error=True)), lambda found: len(found) == 1)
    equal(len(failed), 1)
    equal(client.get_run_stats(project_names=[PROJECT], is_root=True)["run_count"] >= 11, True)
    equal(str(roots[0].id) in client.get_run_url(run=roots[0]), True)
    equal(client.read_project(project_name=PROJECT, include_stats=True).name, PROJECT)
    equal(client.has_project(str(uuid.uuid4())), False)


async def collect(items):
    if inspect.isawaitable(items):
        items = await items
    if hasattr(items, "__aiter__"):
        return [item async for item in items]
    return list(items)


async def resolve(value):
    return await value if inspect.isawaitable(value) else value


def method(resource, *names):
    """The first of the names that this version has."""
    return next((found for found in (getattr(resource, name, None) for name in names) if found), None)


async def v2_queries():
    query = method(getattr(client, "runs", None), "query", "query_v2")
    if not query:
        return "absent"
    project = str(client.read_project(project_name=PROJECT).id)
    runs = await collect(
        query(
            project_ids=[project], is_root=True, page_size=4, selects=["ID", "NAME", "TRACE_ID"], filter='eq(name, "parent")'
        )
    )
    equal(len({run.id for run in runs}), 10)
    retrieve = method(client.runs, "retrieve", "retrieve_v2")
    run = await resolve(retrieve(runs[0].id, project_id=project, selects=["NAME", "INPUTS"]))
    equal(run.name, "parent")
    threads = await collect(client.threads.query(project_id=project))
    equal([thread.thread_id for thread in threads], ["thread"])
    equal(len(await collect(client.threads.list_traces("thread", project_id=project))), 10)
    below = await resolve(client.traces.list_runs(runs[0].id, project_id=project))
    equal(len(getattr(below, "items", below)), 3)


async def streaming():
    if not hasattr(getattr(client, "runs", None), "streaming"):
        return "absent"
    project = str(client.read_project(project_name=PROJECT).id)
    query = dict(project_ids=[project], page_size=4, filter='eq(name, "parent")')
    equal(len(await collect(client.runs.streaming.query_v2(**query))) > 0, True)
    if not hasattr(client.runs.streaming, "query_v2_items"):
        return None
    equal(len({run.id for run in await collect(client.runs.streaming.query_v2_items(**query))}), 10)
    equal(len(await collect(client.threads.streaming.query_items(project_id=project))), 1)
    equal(len(await collect(client.traces.streaming.query_items(project_id=project))), 13)


def feedback():
    id, _ = started_run()
    made = client.create_feedback(id, "rated", score=0.5, comment="c", value={"a": 1})
    client.create_feedback(id, "batched", trace_id=id, score=0.25)
    client.flush()
    client.update_feedback(made.id, score=1)
    token = client.create_presigned_feedback_token(id, "linked")
    client.create_feedback_from_token(token.url, score=1, comment="by a link")
    listed = until(lambda: list(client.list_feedback(run_ids=[id])), lambda found: len(found) == 3)
    equal(sorted((one.key, float(one.score)) for one in listed), [("batched", 0.25), ("linked", 1.0), ("rated", 1.0)])
    client.delete_feedback(made.id)
    equal(list(client.list_feedback(run_ids=[id], feedback_key=["rated"])), [])


def datasets():
    name = f"dataset {uuid.uuid4()}"
    dataset = client.create_dataset(name, description="d")
    examples = [{"inputs": {"q": q}, "outputs": {"a": q}, "split": "train"} for q in (1, 2, 3)]
    client.create_examples(dataset_id=dataset.id, examples=examples)
    upload = {"id": uuid.uuid4(), "inputs": {"q": 4}, "attachments": {"file": ("text/plain", b"hi")}}
    client.create_examples(dataset_id=dataset.id, examples=[upload])
    listed = list(client.list_examples(dataset_name=name, include_attachments=True))
    equal(sorted(one.inputs["q"] for one in listed), [1, 2, 3, 4])
    with_file = next(one for one in listed if one.inputs["q"] == 4)
    equal(with_file.attachments["file"]["reader"].read(), b"hi")
    client.update_example(with_file.id, dataset_id=dataset.id, metadata={"z": 1})
    equal(len(list(client.list_examples(dataset_id=dataset.id, splits=["train"]))), 3)
    equal(len(list(client.list_examples(dataset_id=dataset.id, metadata={"z": 1}))), 1)
    client.delete_dataset(dataset_id=dataset.id)
    equal(client.has_dataset(dataset_id=dataset.id), False)


def evaluate():
    name = f"evaluated {uuid.uuid4()}"
    dataset = client.create_dataset(name)
    client.create_examples(
        dataset_id=dataset.id, examples=[{"inputs": {"q": q}, "outputs": {"a": q}} for q in (1, 2, 3)]
    )
    results = client.evaluate(
        lambda inputs: {"a": inputs["q"]},
        data=name,
        evaluators=[lambda run, example: {"key": "right", "score": run.outputs == example.outputs}],
        summary_evaluators=[lambda runs, examples: {"key": "all", "score": len(runs)}],
        experiment_prefix="python",
    )
    client.flush()
    read = lambda: client.read_project(project_name=results.experiment_name, include_stats=True).feedback_stats  # noqa: E731
    stats = until(read, lambda found: found.get("right", {}).get("n") == 3)
    equal(stats["right"]["avg"], 1.0)
    token = client.share_dataset(dataset_id=dataset.id)["share_token"]
    equal(len(list(client.list_shared_examples(token))), 3)
    equal(len(list(client.list_shared_projects(dataset_share_token=token))), 1)


def three_examples():
    dataset = client.create_dataset(f"experiments {uuid.uuid4()}")
    examples = [
        {"inputs": {"q": q}, "outputs": {"a": q}, "split": "easy" if q < 3 else "hard"} for q in (1, 2, 3)
    ]
    client.create_examples(dataset_id=dataset.id, examples=examples)
    return dataset


def right(run, example):
    return {"key": "right", "score": run.outputs == example.outputs}


async def experiments():
    if not hasattr(client, "get_experiment_results") or not hasattr(client, "aevaluate"):
        return "absent"
    dataset = three_examples()

    async def answer(inputs):
        return {"a": inputs["q"]}

    first = await client.aevaluate(
        answer,
        data=client.list_examples(dataset_id=dataset.id, splits=["easy"]),
        evaluators=[right],
        num_repetitions=2,
        experiment_prefix="asynchronous",
    )
    rows = [row async for row in first]
    equal(len(rows), 4)
    client.flush()
    stats = lambda: client.read_project(project_name=first.experiment_name, include_stats=True).feedback_stats or {}  # noqa: E731
    until(stats, lambda found: found.get("right", {}).get("n") == 4)
    results = client.get_experiment_results(name=first.experiment_name)
    equal(results["run_stats"]["run_count"], 4)
    equal(results["feedback_stats"]["right"]["avg"], 1.0)
    listed = list(results["examples_with_runs"])
    equal(sorted(len(example.runs) for example in listed), [0, 2, 2])
    before = len(list(client.list_projects(reference_dataset_id=dataset.id)))
    local = client.evaluate(
        lambda inputs: {"a": 0}, data=dataset.name, evaluators=[right], upload_results=False, blocking=True
    )
    equal([row["evaluation_results"]["results"][0].score for row in local], [False] * 3)
    equal(len(list(client.list_projects(reference_dataset_id=dataset.id))), before)


def experiments_of_the_platform():
    """Reads an experiment that the platform executes."""
    if not hasattr(client, "get_experiment_results"):
        return "absent"

    class Target(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            answer = json.dumps({"a": body["q"]}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Target)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    dataset = three_examples()
    name = f"platform {uuid.uuid4()}"
    target = {"type": "http", "url": f"http://127.0.0.1:{server.server_port}/"}
    order = {"dataset_id": str(dataset.id), "name": name, "target": target, "repetitions": 2}
    job = client.request_with_retries("POST", "/experiments/runs", json=order).json()
    read = lambda: client.request_with_retries("GET", f"/experiments/runs/{job['id']}").json()  # noqa: E731
    until(read, lambda found: found["status"] == "completed")
    server.shutdown()
    project = client.read_project(project_name=name, include_stats=True)
    equal([str(project.id), project.run_count, project.reference_dataset_id], [job["id"], 6, dataset.id])
    runs = list(client.list_runs(project_name=name, is_root=True))
    equal(sorted(run.outputs["a"] for run in runs), [1, 1, 2, 2, 3, 3])
    equal({run.error for run in runs}, {None})
    results = client.get_experiment_results(name=name)
    equal(results["run_stats"]["run_count"], 6)
    equal([len(example.runs) for example in results["examples_with_runs"]], [2, 2, 2])


def judged_experiments():
    from langsmith.evaluation import evaluate_comparative, evaluate_existing

    if not hasattr(client, "create_comparative_experiment"):
        return "absent"
    dataset = three_examples()
    pair = [
        client.evaluate(lambda inputs, n=n: {"a": inputs["q"] + n}, data=dataset.name, experiment_prefix=f"pair {n}")
        for n in (0, 1)
    ]
    client.flush()
    names = [results.experiment_name for results in pair]
    for name in names:
        until(lambda: client.read_project(project_name=name, include_stats=True).run_count, lambda count: count == 3)  # noqa: B023
    existing = evaluate_existing(
        names[0],
        evaluators=[right],
        summary_evaluators=[lambda runs, examples: {"key": "all", "score": len(runs)}],
        client=client,
    )
    equal(len(list(existing)), 3)
    client.flush()
    read = lambda: client.read_project(project_name=names[0], include_stats=True)  # noqa: E731
    project = until(read, lambda found: (found.feedback_stats or {}).get("right", {}).get("n") == 3)
    equal(project.session_feedback_stats["all"]["avg"], 3)

    def prefers_first(runs, example):
        return {"key": "preferred", "scores": {runs[0].id: 1, runs[1].id: 0}}

    compared = evaluate_comparative(tuple(names), evaluators=[prefers_first], client=client, experiment_prefix="pairs")
    equal(len(list(compared)), 3)
    client.flush()
    runs = [run.id for run in client.list_runs(project_name=names[0], is_root=True)]
    scores = until(
        lambda: [one.score for one in client.list_feedback(run_ids=runs, feedback_key=["preferred"])],
        lambda found: len(found) == 3,
    )
    equal(scores, [1, 1, 1])


def annotation_queues():
    if not hasattr(client, "create_annotation_queue"):
        return "absent"
    (first, _), (second, _) = started_run(), started_run()
    name = f"queue {uuid.uuid4()}"
    queue = client.create_annotation_queue(name=name, description="d")
    client.add_runs_to_annotation_queue(queue.id, run_ids=[first, second])
    client.add_runs_to_annotation_queue(queue.id, run_ids=[second])
    equal([found.id for found in client.list_annotation_queues(name=name)], [queue.id])
    client.update_annotation_queue(queue.id, name=name, description="changed")
    equal(client.read_annotation_queue(queue.id).description, "changed")
    equal(str(client.get_run_from_annotation_queue(queue.id, index=0).id), str(first))
    if hasattr(client, "list_runs_from_annotation_queue"):
        listed = client.list_runs_from_annotation_queue(queue.id, status="needs_my_review")
        equal([str(run.id) for run in listed], [str(first), str(second)])
    client.delete_run_from_annotation_queue(queue.id, run_id=first)
    equal(str(client.get_run_from_annotation_queue(queue.id, index=0).id), str(second))
    client.delete_annotation_queue(queue.id)
    equal(list(client.list_annotation_queues(name=name)), [])


async def queue_items():
    if not hasattr(client, "annotation_queues"):
        return "absent"
    queues = client.annotation_queues
    (first, _), (second, _) = started_run(), started_run()
    rubric = [
        {"feedback_key": "correct", "is_required": True},
        {
            "feedback_key": "why",
            "visible_if": {"join": "all", "rules": [{"key": "correct", "op": "is", "values": [0]}]},
            "regex_validator": "^[a-z]+$",
        },
    ]
    queue = client.create_annotation_queue(name=f"items {uuid.uuid4()}", rubric_items=rubric)
    read = client.read_annotation_queue(queue.id)
    # 0.14 knows no rubric of a queue
    if hasattr(read, "rubric_items"):
        equal(read.rubric_items[1]["regex_validator"], "^[a-z]+$")
    id = str(queue.id)
    items = [{"item_type": "RUN", "run_id": str(run)} for run in (first, second)]
    added = (await queues.items.create(id, items=items)).items
    equal([item.run_id for item in added], [str(first), str(second)])
    listed = [item.id async for item in queues.items.list(id, status="needs_my_review", page_size=1)]
    equal(listed, [item.id for item in added])
    equal((await queues.items.retrieve_count(id, status="all")).count, 2)
    placed = await queues.items.retrieve_placement(added[1].id, queue_id=id)
    equal((placed.position, placed.section), (1, "needs_my_review"))
    await queues.items.update(added[1].id, queue_id=id, added_at="2026-01-01T00:00:00Z")
    done = await queues.items.create_status(added[0].id, status="completed")
    equal(done.is_archived, True)
    equal((await queues.items.retrieve_count(id, status="archived")).count, 1)
    await queues.items.delete_all(id, item_ids=[added[1].id])
    equal((await queues.items.retrieve_count(id, status="all")).count, 1)
    client.delete_annotation_queue(queue.id)


async def evaluators_and_rules():
    online = getattr(client, "evaluators", None)
    if not hasattr(online, "spend"):
        return "absent"
    code = "def perform_eval(run, example):\n    return {'short': len(str(run['outputs'])) < 100}"
    name = f"length {uuid.uuid4()}"
    made = (await resolve(online.create(name=name, type="code", code_evaluator={"code": code, "language": "python"}))).evaluator
    other = code.replace("100", "200")
    changed = (await resolve(online.update(made.id, code_evaluator={"code": other}))).evaluator
    equal(changed.code_evaluator.code, other)
    equal((await resolve(online.retrieve(made.id))).name, name)
    # no client has a method that creates a rule of an evaluator
    rule = client.request_with_retries(
        "POST",
        "/runs/rules",
        json={"display_name": name, "sampling_rate": 1, "filter": 'eq(name, "nobody")', "evaluator_id": made.id},
    ).json()
    found = await collect(online.list(name_contains=name))
    equal([(each.id, [one.id for one in each.run_rules]) for each in found], [(made.id, [rule["id"]])])
    spent = await resolve(online.spend(period_start=now().date().isoformat(), evaluator_id=made.id))
    equal(spent.groups, [])
    gone = await resolve(online.bulk_delete(evaluator_ids=[made.id], delete_run_rules=True))
    equal((gone.succeeded, gone.failed), ([made.id], []))


def rejected(send, status):
    try:
        send()
    except Exception as error:
        equal(status in str(error), True)
    else:
        raise AssertionError(f"expected {status}")


def views():
    # no client has methods for saved views
    def send(method, path="", **body):
        answer = client.request_with_retries(method, f"/sessions/{session}/views{path}", **({"json": body} if body else {}))
        return answer.json() if answer.content else None

    session = client.create_project(f"views {uuid.uuid4()}").id
    saved = {
        "filter_string": "and(eq(is_root, true), gt(total_cost, 0.5))",
        "trace_filter_string": 'eq(status, "error")',
        "tree_filter_string": 'eq(name, "search")',
        "duration": "7d",
        "description": "costly",
    }
    made = [send("POST", display_name=name, **saved) for name in ("b costly", "C late", "a slow")]
    equal({key: made[0][key] for key in saved}, saved)
    equal((made[0]["type"], made[0]["session_id"]), ("runs", str(session)))
    send("POST", display_name="threads", type="threads")
    # by name, without regard to case
    equal([each["display_name"] for each in send("GET", "?type=runs")], ["a slow", "b costly", "C late"])
    equal([each["display_name"] for each in send("GET")], ["a slow", "b costly", "C late", "threads"])
    id = made[0]["id"]
    changed = send("PATCH", f"/{id}", filter_string=None, duration=None, start_time="2026-01-02T03:04:05Z")
    equal((changed["filter_string"], changed["duration"], changed["start_time"][:19]), (None, None, "2026-01-02T03:04:05"))
    equal(changed["tree_filter_string"], saved["tree_filter_string"])
    equal(send("PATCH", f"/{id}/rename", display_name="z last")["display_name"], "z last")
    equal(send("GET", f"/{id}")["description"], "costly")
    equal([each["id"] for each in send("GET", "?type=runs")], [made[2]["id"], made[1]["id"], id])
    rejected(lambda: send("POST", display_name="wrong", filter_string="eq("), "422")
    rejected(lambda: send("PATCH", f"/{uuid.uuid4()}", description="x"), "404")
    send("DELETE", f"/{id}")
    rejected(lambda: send("GET", f"/{id}"), "404")
    client.delete_project(project_id=session)


def feedback_configs():
    if not hasattr(client, "create_feedback_config"):
        return "absent"
    key = f"key-{uuid.uuid4()}"
    config = {
        "type": "categorical",
        "categories": [{"value": 0, "label": "a"}, {"value": 1, "label": "b"}],
        "allows_multiple_categories": True,
    }
    made = client.create_feedback_config(key, feedback_config=config)
    equal(client.create_feedback_config(key, feedback_config=config).feedback_key, made.feedback_key)
    equal([each.feedback_key for each in client.list_feedback_configs(feedback_key=[key])], [key])
    equal(client.update_feedback_config(key, is_lower_score_better=True).is_lower_score_better, True)
    client.delete_feedback_config(key)
    equal(list(client.list_feedback_configs(feedback_key=[key])), [])


def examples_of_runs():
    run, _ = started_run()
    dataset = client.create_dataset(f"of runs {uuid.uuid4()}")
    example = {"source_run_id": run, "use_source_run_io": True, "inputs": {}}
    client.create_examples(dataset_id=dataset.id, examples=[example])
    [made] = client.list_examples(dataset_id=dataset.id)
    equal(made.source_run_id, run)
    client.delete_dataset(dataset_id=dataset.id)


async def dashboards():
    def ask(method, path, body=None):
        return client.request_with_retries(method, path, json=body).json()

    project = str(client.read_project(project_name=PROJECT).id)
    made = ask("POST", "/charts/section", {"title": f"board {uuid.uuid4()}"})
    series = [{"name": "runs", "metric": "run_count"}, {"name": "failed", "metric": "error_rate"}]
    chart = ask(
        "POST",
        "/charts/create",
        {
            "title": "parents",
            "chart_type": "line",
            "section_id": made["id"],
            "series": series,
            "common_filters": {"session": [project], "filter": 'in(name, ["parent", "failing"])'},
        },
    )
    since = (now() - datetime.timedelta(hours=2)).isoformat()
    period = {"start_time": since, "end_time": now().isoformat(), "stride": {"hours": 1}}

    def totals(data, chart):
        [runs, failed] = [
            [point["value"] for point in data if point["series_id"] == one["id"] and point["value"]]
            for one in chart["series"]
        ]
        return sum(runs), len(failed) > 0

    section = ask("POST", f"/charts/section/{made['id']}", period)
    equal([each["id"] for each in section["charts"]], [chart["id"]])
    equal(totals(section["charts"][0]["data"], chart), (11, True))
    equal(totals(ask("POST", f"/charts/{chart['id']}", period)["data"], chart), (11, True))
    ask("PATCH", f"/charts/{chart['id']}", {"title": "renamed"})
    copy = ask("POST", "/charts/section/clone", {"section_id": made["id"]})
    copied = ask("POST", f"/charts/section/{copy['id']}", {**period, "omit_data": True})
    equal([each["title"] for each in copied["charts"]], ["renamed"])
    for id in [made["id"], copy["id"]]:
        ask("DELETE", f"/charts/section/{id}")
    sessions = getattr(client, "sessions", None)
    if not hasattr(sessions, "dashboard"):
        return
    own = await resolve(sessions.dashboard(project, start_time=since, stride={"hours": 1}))
    traces = own.sub_sections[0].charts[0]
    equal((traces.title, sum(point.value or 0 for point in traces.data) >= 11), ("Traces", True))


def sharing():
    id, _ = started_run()
    token = client.share_run(id).split("/public/")[1].split("/")[0]
    equal([run.id for run in client.list_shared_runs(token)], [id])
    client.unshare_run(id)
    equal(client.run_is_shared(id), False)


def no_warnings():
    client.flush()
    equal(noted, [])


CHECKS = {
    "tracing": tracing,
    "attachments": attachments,
    "queries": queries,
    "v2 queries": v2_queries,
    "streaming": streaming,
    "feedback": feedback,
    "datasets": datasets,
    "evaluate": evaluate,
    "experiments": experiments,
    "experiments of the platform": experiments_of_the_platform,
    "judged experiments": judged_experiments,
    "annotation queues": annotation_queues,
    "items of annotation queues": queue_items,
    "evaluators and rules": evaluators_and_rules,
    "views": views,
    "feedback configurations": feedback_configs,
    "examples of runs": examples_of_runs,
    "dashboards": dashboards,
    "sharing": sharing,
    "warnings": no_warnings,
}


async def main():
    for name, check in CHECKS.items():
        error, absent = None, False
        try:
            absent = await resolve(check()) == "absent"
        except BaseException:
            error = traceback.format_exc()
        print(json.dumps({"name": name, "error": error, "absent": absent}), flush=True)


# the client prints the address of an experiment on standard output
results_file, sys.stdout = sys.stdout, sys.stderr
print = __import__("functools").partial(print, file=results_file)
asyncio.run(main())
