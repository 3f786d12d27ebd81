"""What an application does with prompts and the Python client, run with the packages of the interpreter:

    LANGSMITH_ENDPOINT=... LANGSMITH_API_KEY=... PEER_WORKSPACE=ID PEER_HANDLE=... HANDLE=... \
      python prompts.py PREFIX [PREFIX_OF_OTHER_CLIENT]

The same as prompts.mjs: prints one JSON line a check, and one for each manifest that it pushed.
"""

import asyncio
import json
import os
import sys
import traceback
import warnings

warnings.simplefilter("ignore")

from langchain_classic import hub  # noqa: E402
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate  # noqa: E402
from langchain_core.prompts.structured import StructuredPrompt  # noqa: E402
from langchain_openai import ChatOpenAI  # noqa: E402
from langsmith import AsyncClient, Client  # noqa: E402
from langsmith.schemas import FileEntry  # noqa: E402
from langsmith.utils import (  # noqa: E402
    LangSmithAuthError,
    LangSmithConflictError,
    LangSmithNotFoundError,
    LangSmithUserError,
)

prefix, *others = sys.argv[1:]
HANDLE = os.environ["HANDLE"]
PEER_HANDLE = os.environ["PEER_HANDLE"]
client = Client()
peer = Client(workspace_id=os.environ["PEER_WORKSPACE"])


def named(kind):
    return f"{prefix}-{kind}"


def equal(found, wanted):
    if found != wanted:
        raise AssertionError(f"expected {wanted!r}, found {found!r}")


def failure(kind, call):
    try:
        call()
    except kind as error:
        return str(error)
    raise AssertionError("did not fail")


def write(line):
    print(json.dumps(line), flush=True)


def pull(identifier, **more):
    return client.pull_prompt_commit(identifier, skip_cache=True, **more)


chat = ChatPromptTemplate.from_messages(
    [
        ("system", 'Answer in {language} – „ä“ 😀 \\ "quoted".'),
        MessagesPlaceholder("history"),
        ("human", "{question}"),
    ]
)
SCHEMA = {
    "title": "answer",
    "description": "d",
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
}


def template(text, variables):
    kwargs = {"template": text, "input_variables": variables, "template_format": "f-string"}
    return {"lc": 1, "type": "constructor", "id": ["langchain_core", "prompts", "prompt", "PromptTemplate"], "kwargs": kwargs}


# LangChain neither serializes nor loads these: they are pushed and pulled as their manifests
FEW_SHOT = {
    "lc": 1,
    "type": "constructor",
    "id": ["langchain_core", "prompts", "few_shot", "FewShotPromptTemplate"],
    "kwargs": {
        "examples": [{"q": "1+1", "a": "2"}],
        "example_prompt": template("{q} = {a}", ["q", "a"]),
        "suffix": "{input} =",
        "input_variables": ["input"],
    },
}

KINDS = {
    "chat": lambda: chat,
    "string": lambda: PromptTemplate.from_template("Hello {name}"),
    "mustache": lambda: ChatPromptTemplate.from_messages([("human", "Hi {{user}}")], template_format="mustache"),
    "structured": lambda: StructuredPrompt([("human", "{question}")], SCHEMA),
    "fewshot": lambda: FEW_SHOT,
    "model": lambda: chat | ChatOpenAI(model="gpt-x", temperature=0.5, api_key="sk-not-stored"),
}


def create():
    made = client.create_prompt(named("created"), description="d", readme="# r", tags=["a", "b"])
    equal([made.repo_handle, made.owner, made.is_public], [named("created"), HANDLE, False])
    read = client.get_prompt(named("created"))
    equal([read.description, read.readme, read.tags, read.num_commits], ["d", "# r", ["a", "b"], 0])
    equal(client.get_prompt(named("absent")), None)
    failure(LangSmithConflictError, lambda: client.create_prompt(named("created")))
    failure(LangSmithUserError, lambda: client.create_prompt(f"{PEER_HANDLE}/x"))


def push_and_pull():
    for kind, build in KINDS.items():
        url = client.push_prompt(named(kind), object=build(), description=kind, commit_description="first")
        commit = pull(named(kind), include_model=True)
        assert f"/prompts/{named(kind)}/{commit.commit_hash[:8]}" in url, url
        write({"name": f"manifest {kind}", "manifest": commit.manifest})
    equal(client.get_prompt(named("chat")).description, "chat")
    client.push_prompt(named("chat"), readme="new")
    equal(client.get_prompt(named("chat")).readme, "new")
    loaded = client.pull_prompt(named("chat"), skip_cache=True)
    commit_hash = pull(named("chat")).commit_hash
    expected = {"lc_hub_owner": "-", "lc_hub_repo": named("chat"), "lc_hub_commit_hash": commit_hash}
    equal({key: value for key, value in loaded.metadata.items() if key.startswith("lc_hub")}, expected)
    messages = loaded.invoke({"language": "de", "history": [], "question": "q"}).messages
    equal([message.content for message in messages], ['Answer in de – „ä“ 😀 \\ "quoted".', "q"])
    equal(client.pull_prompt(named("string"), skip_cache=True).format(name="x"), "Hello x")
    assert isinstance(client.pull_prompt(named("structured"), skip_cache=True), StructuredPrompt)
    equal(client.pull_prompt(named("mustache"), skip_cache=True).invoke({"user": "Ada"}).messages[0].content, "Hi Ada")


def hub_pull():
    url = hub.push(named("hub"), chat, tags=["t"], new_repo_description="h")
    assert f"/prompts/{named('hub')}/" in url, url
    pulled = hub.pull(named("hub"))
    equal(pulled.metadata["lc_hub_repo"], named("hub"))
    equal(pulled.messages, chat.messages)


def include_model():
    equal(pull(named("model")).manifest["id"][-1], "ChatPromptTemplate")
    full = pull(named("model"), include_model=True)
    equal(full.manifest["id"][-1], "RunnableSequence")
    assert "sk-not-stored" not in json.dumps(full.manifest)
    secrets = {"OPENAI_API_KEY": "sk-test"}
    sequence = client.pull_prompt(named("model"), include_model=True, secrets=secrets, skip_cache=True)
    equal([sequence.last.model_name, sequence.last.temperature], ["gpt-x", 0.5])
    assert isinstance(client.pull_prompt(named("model"), skip_cache=True), ChatPromptTemplate)


def versions():
    name = named("versions")

    def push(text, **more):
        return client.push_prompt(name, object=ChatPromptTemplate.from_template(text), **more)

    def text_of(version, **more):
        return pull(version, **more).manifest["kwargs"]["messages"][0]["kwargs"]["prompt"]["kwargs"]["template"]

    push("one", commit_tags=["production", "v1"])
    first = pull(name).commit_hash
    push("two", commit_tags="staging")
    wanted = {"production": "one", "v1": "one", "staging": "two", "latest": "two", first: "one", first[:8]: "one"}
    equal({version: text_of(f"{name}:{version}") for version in wanted}, wanted)
    equal(text_of(f"-/{name}:production"), "one")
    equal(text_of(f"{HANDLE}/{name}:staging", dangerously_pull_public_prompt=True), "two")
    # the client creates tags, and does not move them; the commit is stored
    failure(LangSmithConflictError, lambda: push("three", commit_tags=["production"]))
    equal([text_of(f"{name}:production"), text_of(f"{name}:latest")], ["one", "three"])
    latest = next(client.list_prompt_commits(name))
    client.request_with_retries("PATCH", f"/repos/-/{name}/tags/production", json={"commit_id": str(latest.id)})
    equal(text_of(f"{name}:production"), "three")
    failure(LangSmithConflictError, lambda: push("four", parent_commit_hash=first))
    commits = list(client.list_prompt_commits(name))
    equal([len(commits), commits[2].commit_hash, commits[1].parent_commit_hash], [3, first, first])
    equal(len(list(client.list_prompt_commits(name, limit=2))), 2)
    found = client.get_prompt(name)
    equal([found.num_commits, found.last_commit_hash], [3, commits[0].commit_hash])


def cache():
    # as applications do it: without skip_cache, so that a moved tag is seen after the cache's time to live
    version = f"{named('versions')}:v1"
    one, two = client.pull_prompt_commit(version), client.pull_prompt_commit(version)
    assert one is two
    equal(pull(version), one)


def list_prompts():
    found = client.list_prompts(query=named("versions"))
    equal([repo.repo_handle for repo in found.repos], [named("versions")])
    for n in range(3):
        client.create_prompt(named(f"list-{n}"))
    page = client.list_prompts(query=named("list"), limit=2, sort_field="updated_at", sort_direction="asc")
    equal([[repo.repo_handle for repo in page.repos], page.total], [[named("list-0"), named("list-1")], 3])
    equal(len(client.list_prompts(query=named("list"), limit=2, offset=2).repos), 1)
    equal(client.list_prompts(query=named("list"), is_public=True).total, 0)


def update():
    name = named("updated")
    client.create_prompt(name)
    client.update_prompt(name, description="new", readme="r", tags=["x"], is_archived=True)
    read = client.get_prompt(name)
    equal([read.description, read.readme, read.tags, read.is_archived], ["new", "r", ["x"], True])
    equal(client.list_prompts(query=name).total, 0)
    equal(client.list_prompts(query=name, is_archived=True).total, 1)
    client.delete_prompt(name)
    equal(client.get_prompt(name), None)


def public_prompts():
    peer.push_prompt(named("peer"), object=chat, is_public=True)
    peer.push_prompt(named("private"), object=chat)
    trusted = {"dangerously_pull_public_prompt": True}
    pulled = pull(f"{PEER_HANDLE}/{named('peer')}", **trusted)
    equal(pulled.owner, PEER_HANDLE)
    equal(pulled.manifest, pull(named("chat")).manifest)
    failure(LangSmithNotFoundError, lambda: pull(f"{PEER_HANDLE}/{named('private')}", **trusted))
    equal(client.get_prompt(f"{PEER_HANDLE}/{named('private')}"), None)
    equal(client.get_prompt(named("peer")), None)
    # the client sends this to the server, which rejects it
    error = failure(Exception, lambda: client.update_prompt(f"{PEER_HANDLE}/{named('peer')}", readme="x"))
    assert "403" in error and "Fork it" in error, error
    peer.update_prompt(named("peer"), is_public=False)
    failure(LangSmithNotFoundError, lambda: pull(f"{PEER_HANDLE}/{named('peer')}", **trusted))


def errors():
    wrong = Client(api_key="lsv2_sk_wrong")
    messages = [
        failure(LangSmithNotFoundError, lambda: pull(named("absent"))),
        failure(LangSmithNotFoundError, lambda: pull(named("created"))),
        failure(LangSmithNotFoundError, lambda: pull(f"{named('chat')}:no-such-tag")),
        failure(LangSmithAuthError, lambda: wrong.pull_prompt_commit(named("chat"), skip_cache=True)),
    ]
    equal(len(set(messages)), 4)
    write({"name": "messages", "messages": messages})
    assert named("absent") in messages[0] and "not found" in messages[0], messages[0]
    assert "commit" in messages[1], messages[1]
    assert "no-such-tag" in messages[2], messages[2]
    assert "like" in failure(Exception, lambda: client.like_prompt(named("chat"))).lower()


def agents():
    kinds = [
        (client.push_agent, client.pull_agent, client.agent_exists, client.list_agents, client.delete_agent),
        (client.push_skill, client.pull_skill, client.skill_exists, client.list_skills, client.delete_skill),
    ]
    for push, pull_directory, exists, listed, delete in kinds:
        name = named(push.__name__.replace("_", "-"))
        files = {"AGENTS.md": FileEntry(content="# ä\n"), "a/b.txt": FileEntry(content="")}
        url = push(name, files=files, description="d")
        first = pull_directory(name)
        assert first.commit_hash[:8] in url, url
        equal(first.files, files)
        push(name, files={"a/b.txt": None, "c": FileEntry(content="c")}, parent_commit=first.commit_hash)
        equal(sorted(pull_directory(name).files), ["AGENTS.md", "c"])
        equal(pull_directory(name, version=first.commit_hash).files, files)
        equal(exists(name), True)
        equal(listed(query=name).total, 1)
        delete(name)
        equal(exists(name), False)


async def asynchronous():
    async with AsyncClient() as client:
        name = named("async")
        await client.create_prompt(name, description="d")
        url = await client.push_prompt(name, object=chat, commit_tags=["production"], readme="r")
        commit = await client.pull_prompt_commit(f"{name}:production", skip_cache=True)
        assert commit.commit_hash[:8] in url, url
        loaded = await client.pull_prompt(name, skip_cache=True)
        equal(loaded.messages, chat.messages)
        equal([each.commit_hash async for each in client.list_prompt_commits(name)], [commit.commit_hash])
        equal((await client.list_prompts(query=name)).total, 1)
        await client.update_prompt(name, tags=["x"])
        equal((await client.get_prompt(name)).tags, ["x"])
        await client.push_agent(named("async-agent"), files={"A": FileEntry(content="a")})
        equal((await client.pull_agent(named("async-agent"))).files, {"A": FileEntry(content="a")})
        await client.delete_agent(named("async-agent"))
        await client.delete_prompt(name)
        equal(await client.get_prompt(name), None)


CHECKS = {
    "create": create,
    "push and pull": push_and_pull,
    "hub.pull": hub_pull,
    "include_model": include_model,
    "versions": versions,
    "cache": cache,
    "list": list_prompts,
    "update": update,
    "public prompts": public_prompts,
    "errors": errors,
    "agents": agents,
    "async": asynchronous,
}


def pull_of_other():
    for kind in KINDS:
        commit = client.pull_prompt_commit(f"{others[0]}-{kind}", include_model=True)
        write({"name": f"manifest {kind}", "manifest": commit.manifest})
    pulled = client.pull_prompt(f"{others[0]}-chat")
    equal(pulled.invoke({"language": "de", "history": [], "question": "q"}).messages[-1].content, "q")


for name, check in ({"pull of the other client's prompts": pull_of_other} if others else CHECKS).items():
    error = None
    try:
        result = check()
        if asyncio.iscoroutine(result):
            asyncio.run(result)
    except BaseException:
        error = traceback.format_exc()
    write({"name": name, "error": error, "absent": False})
