"""Loading of graphs by path and module, and what a developer reads when it fails."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from heddle_host.graphs.load import GraphEntry, load_graphs
from heddle_host.graphs.open import OpenInput

GRAPH = """
from typing import TypedDict
from langgraph.graph import START, StateGraph

class State(TypedDict):
    x: int

builder = StateGraph(State).add_node("a", lambda state: {"x": 1}).add_edge(START, "a")
graph = builder.compile()
"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    before_path, before_modules = list(sys.path), set(sys.modules)
    yield tmp_path
    sys.path[:] = before_path
    for name in set(sys.modules) - before_modules:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def load(project: Path, path: str, **more: Any) -> GraphEntry:
    return load_graphs({"dir": str(project), "graphs": {"g": {"path": path, "description": "d"}}, **more})["g"]


async def opened(entry: GraphEntry) -> Any:
    assert entry.graph, entry.error
    store: Any = None
    async with entry.graph.open(OpenInput({"configurable": {"a": 1}}, "threads.read", None, store)) as graph:
        return graph


@pytest.mark.parametrize("name", ["graph", "builder"])
async def test_loads_a_compiled_graph_and_a_builder_from_a_file(project: Path, name: str) -> None:
    (project / "agent.py").write_text(GRAPH)
    entry = load(project, f"./agent.py:{name}")
    assert entry.status == {"ok": True, "description": "d"}
    assert "a" in (await opened(entry)).nodes


async def test_names_a_checkpointer_and_a_store_that_are_not_used(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    imports = (
        "from langgraph.checkpoint.memory import InMemorySaver\nfrom langgraph.store.memory import InMemoryStore\n"
    )
    compiled = "kept = builder.compile(checkpointer=InMemorySaver(), store=InMemoryStore())\ndef make(): return kept\n"
    (project / "agent.py").write_text(GRAPH + imports + compiled)
    notes = load(project, "./agent.py:kept").status["notes"]
    assert [note.split(",")[0] for note in notes] == [
        "its own checkpointer (InMemorySaver) is not used",
        "its own store (InMemoryStore) is not used",
    ]
    made = load(project, "./agent.py:make")
    assert made.status == {"ok": True, "description": "d"}
    for _ in range(2):
        await opened(made)
    assert capsys.readouterr().err.splitlines() == [f"Graph ./agent.py:make: {note}" for note in notes]


async def test_loads_a_module_of_a_src_layout_with_relative_imports(project: Path) -> None:
    package = project / "src" / "my_agent"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "inner.py").write_text(GRAPH)
    (package / "main.py").write_text("from .inner import graph\n")
    for path in ("my_agent.main:graph", "./src/my_agent/main.py:graph"):
        assert "a" in (await opened(load(project, path))).nodes


@pytest.mark.parametrize(
    "factory",
    [
        "def make(): return graph",
        "def make(config): return builder",
        "async def make(config: RunnableConfig): return graph",
        "@contextlib.asynccontextmanager\nasync def make(config): yield graph",
        "@contextlib.contextmanager\ndef make(): yield graph",
    ],
)
async def test_calls_factories_of_every_shape(project: Path, factory: str) -> None:
    imports = "import contextlib\nfrom langchain_core.runnables import RunnableConfig\n"
    (project / "made.py").write_text(f"{imports}{GRAPH}\n{factory}\n")
    assert "a" in (await opened(load(project, "./made.py:make"))).nodes


@pytest.mark.parametrize("parameters", ["config: RunnableConfig, runtime: ServerRuntime", "*, runtime: ServerRuntime"])
async def test_passes_the_runtime_to_factories(project: Path, parameters: str) -> None:
    imports = "from langchain_core.runnables import RunnableConfig\nfrom langgraph_sdk.runtime import ServerRuntime\n"
    factory = f"async def make({parameters}):\n    assert runtime.access_context\n    return graph"
    (project / "made.py").write_text(f"{imports}{GRAPH}\n{factory}\n")
    assert "a" in (await opened(load(project, "./made.py:make"))).nodes


@pytest.mark.parametrize(
    ("source", "path", "message"),
    [
        ("x = 1", "./broken.py:x", "an object of class int, not a LangGraph graph"),
        ("x = 1", "./broken.py:y", 'the module has no variable "y". It has: x.'),
        ("\n\nimport missing_package", "./broken.py:x", "broken.py:3"),
        ("raise SystemExit(2)", "./broken.py:x", "SystemExit: 2"),
        ("x = (", "./broken.py:x", "SyntaxError"),
        ("x = 1", "./absent.py:x", "there is no file"),
        ("def make(a, b): ...", "./broken.py:make", 'the parameter "a" is unknown'),
    ],
)
def test_explains_what_does_not_load(project: Path, source: str, path: str, message: str) -> None:
    (project / "broken.py").write_text(source)
    entry = load(project, path)
    assert not entry.graph
    assert message in entry.error
