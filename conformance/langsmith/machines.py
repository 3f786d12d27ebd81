"""Calls every tool of the official `langsmith-mcp-server` over stdio, and the official `langsmith-fetch`, unmodified,
and compares what they return with the data that was sent before. Prints a JSON line per check.

`get_billing_usage` is left out: over stdio the server asks the vendor's host for it, whatever LANGSMITH_ENDPOINT says.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from datetime import datetime, timedelta, timezone
from pathlib import Path

from langsmith import Client
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

BIN = Path(sys.executable).parent
PROJECT = f"machines-{uuid.uuid4().hex[:8]}"
DATASET = f"{PROJECT}-cases"
PROMPT = f"{PROJECT}-prompt"
THREAD = f"{PROJECT}-thread"
client = Client()
checks = []


def check(function):
    checks.append(function)
    return function


def seed():
    """Sends two turns of a thread, one of them with a failed tool call, a dataset, an experiment and a prompt."""
    ids = {}
    # the same metadata also marks the turns of a thread for `langsmith-fetch`
    metadata = {"thread_id": THREAD, "session_id": THREAD}
    begin = datetime.now(timezone.utc) - timedelta(minutes=5)
    for turn in (1, 2):
        start = begin + timedelta(minutes=turn)
        root = uuid.uuid4()
        ids[f"turn{turn}"] = str(root)
        dotted = f"{start:%Y%m%dT%H%M%S%f}Z{root}"
        question = {"messages": [{"role": "user", "content": f"question {turn}"}]}
        answer = {"messages": [*question["messages"], {"role": "assistant", "content": f"answer {turn}"}]}
        common = {"trace_id": root, "project_name": PROJECT, "extra": {"metadata": metadata}}
        client.create_run("agent", question, "chain", id=root, dotted_order=dotted, start_time=start,
                          end_time=start + timedelta(seconds=2), outputs=answer, tags=["blue"], **common)
        model = uuid.uuid4()
        client.create_run("model", question, "llm", id=model, parent_run_id=root, start_time=start, end_time=start,
                          dotted_order=f"{dotted}.{start:%Y%m%dT%H%M%S%f}Z{model}",
                          outputs={"message": answer["messages"][-1]}, **common)
        child = uuid.uuid4()
        later = start + timedelta(seconds=1)
        failed = {"error": "Timeout"} if turn == 2 else {"outputs": {"found": 1}}
        client.create_run("search", {"q": f"query {turn}"}, "tool", id=child, parent_run_id=root, start_time=later,
                          end_time=later, dotted_order=f"{dotted}.{later:%Y%m%dT%H%M%S%f}Z{child}", **failed, **common)
        ids[f"tool{turn}"], ids[f"model{turn}"] = str(child), str(model)
    client.flush()
    until(lambda: len(list(client.list_runs(project_name=PROJECT))) == 6)
    client.create_feedback(ids["turn1"], "correct", score=1, comment="good")
    dataset = client.create_dataset(DATASET, description="cases")
    ids["dataset"] = str(dataset.id)
    example = client.create_example(inputs={"q": 1}, outputs={"a": 2}, dataset_id=dataset.id, metadata={"k": "v"}, split="test")
    ids["example"] = str(example.id)
    client.evaluate(lambda inputs: {"a": 2}, data=DATASET, experiment_prefix=f"{PROJECT}-try",
                    evaluators=[lambda outputs, reference_outputs: {"key": "same", "score": outputs == reference_outputs}])
    manifest = {"lc": 1, "type": "constructor", "id": ["langchain", "prompts", "prompt", "PromptTemplate"],
                "kwargs": {"template": "Say {word}", "input_variables": ["word"], "template_format": "f-string"}}
    client.create_prompt(PROMPT)
    client.request_with_retries("POST", f"/commits/-/{PROMPT}", json={"manifest": manifest})
    return ids


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the data did not arrive"
        time.sleep(0.2)


@check
async def lists_its_tools(call, ids, session):
    names = {tool.name for tool in (await session.list_tools()).tools}
    known = set("""list_prompts get_prompt_by_name push_prompt get_thread_history fetch_runs list_projects get_billing_usage
        list_experiments list_datasets list_examples read_dataset read_example create_dataset update_examples
        run_experiment""".split())
    assert names == known, f"tools that are not called: {names ^ known}"


@check
async def list_projects(call, ids, _):
    found = await call("list_projects", limit=5, project_name=PROJECT)
    assert any(each.get("name") == PROJECT for each in found["projects"]), found
    more = await call("list_projects", limit=5, project_name=PROJECT, more_info="true")
    assert PROJECT in json.dumps(more), more


@check
async def fetch_runs(call, ids, _):
    async def found(**filters):
        answer = await call("fetch_runs", project_name=PROJECT, limit=10, **filters)
        assert "error" not in answer, answer
        return [run["id"] for run in answer["runs"]]

    assert len(await found()) == 6
    assert await found(is_root="true") == [ids["turn2"], ids["turn1"]]
    assert await found(error="true") == [ids["tool2"]]
    assert sorted(await found(trace_id=ids["turn1"])) == sorted([ids["turn1"], ids["model1"], ids["tool1"]])
    assert await found(run_type="tool", filter='eq(name, "search")', trace_filter='gt(latency, "1s")') != []
    assert await found(is_root="true", tree_filter='eq(status, "error")') == [ids["turn2"]]
    assert await found(filter='and(eq(feedback_key, "correct"), gt(feedback_score, 0.5))') == [ids["turn1"]]


@check
async def get_thread_history(call, ids, _):
    history = await call("get_thread_history", thread_id=THREAD, project_name=PROJECT, page_number=1)
    text = json.dumps(history)
    assert "question 2" in text and "answer 2" in text, history


@check
async def prompts(call, ids, _):
    listed = await call("list_prompts", is_public="false", limit=20)
    assert PROMPT in json.dumps(listed), listed
    read = await call("get_prompt_by_name", prompt_name=PROMPT)
    assert "Say {word}" in json.dumps(read), read


@check
async def datasets(call, ids, _):
    listed = await call("list_datasets", limit=10, dataset_name=DATASET)
    assert [each["id"] for each in listed["datasets"]] == [ids["dataset"]], listed
    for chosen in ({"dataset_id": ids["dataset"]}, {"dataset_name": DATASET}):
        read = await call("read_dataset", **chosen)
        assert read["dataset"]["name"] == DATASET and read["dataset"]["example_count"] == 1, read


@check
async def examples(call, ids, _):
    for chosen in ({"dataset_id": ids["dataset"]}, {"dataset_name": DATASET}, {"example_ids": json.dumps([ids["example"]])},
                   {"dataset_name": DATASET, "metadata": '{"k": "v"}'}, {"dataset_name": DATASET, "splits": '["test"]'}):
        listed = await call("list_examples", **chosen)
        assert [(each["id"], each["inputs"]) for each in listed["examples"]] == [(ids["example"], {"q": 1})], (chosen, listed)
    assert (await call("list_examples", dataset_name=DATASET, metadata='{"k": "w"}'))["examples"] == []
    read = await call("read_example", example_id=ids["example"])
    assert read["example"]["outputs"] == {"a": 2}, read


@check
async def list_experiments(call, ids, _):
    for chosen in ({"reference_dataset_id": ids["dataset"]}, {"reference_dataset_name": DATASET}):
        listed = await call("list_experiments", **chosen)
        [experiment] = listed["experiments"]
        assert experiment["name"].startswith(f"{PROJECT}-try"), experiment
        assert experiment["feedback_stats"]["same"]["avg"] == 1, experiment


@check
async def texts_of_help(call, ids, session):
    for name in ("push_prompt", "create_dataset", "update_examples", "run_experiment"):
        [block] = (await session.call_tool(name, {})).content
        assert "langsmith" in block.text.lower(), name


def fetch(*args):
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run([BIN / "langsmith-fetch", *args], env={**os.environ, "HOME": home}, text=True,
                              capture_output=True, timeout=120)
    assert done.returncode == 0, (args, done.stdout[-1000:], done.stderr[-2000:])
    return done.stdout


@check
async def langsmith_fetch(call, ids, _):
    project = str(client.read_project(project_name=PROJECT).id)
    assert "answer 1" in fetch("trace", ids["turn1"], "--format", "raw")
    thread = fetch("thread", THREAD, "--project-uuid", project, "--format", "raw")
    assert "question 1" in thread and "answer 2" in thread, thread
    with tempfile.TemporaryDirectory() as directory:
        fetch("traces", directory, "--project-uuid", project, "--limit", "5", "--include-metadata", "--include-feedback")
        saved = "".join(file.read_text() for file in Path(directory).iterdir())
        assert len(list(Path(directory).iterdir())) == 2 and "answer 2" in saved and "correct" in saved, saved[:3000]
    with tempfile.TemporaryDirectory() as directory:
        fetch("threads", directory, "--project-uuid", project, "--limit", "5")
        saved = "".join(file.read_text() for file in Path(directory).iterdir())
        assert len(list(Path(directory).iterdir())) == 1 and "question 2" in saved, saved[:3000]


async def main():
    ids = seed()
    parameters = StdioServerParameters(command=str(BIN / "langsmith-mcp-server"), env=dict(os.environ))
    async with stdio_client(parameters, errlog=open(os.devnull, "w")) as streams, ClientSession(*streams) as session:
        await session.initialize()

        async def call(tool, **arguments):
            result = await session.call_tool(tool, arguments)
            assert not result.isError, (tool, result.content)
            return result.structuredContent or json.loads(result.content[0].text)

        for function in checks:
            error = None
            try:
                await function(call, ids, session)
            except Exception as thrown:
                error = f"{type(thrown).__name__}: {thrown}"[:4000]
            print(json.dumps({"name": function.__name__, "error": error, "absent": False}), flush=True)


asyncio.run(main())
