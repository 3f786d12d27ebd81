"""Loads the project's graphs from their files and modules; the failure of one does not affect the others."""

from __future__ import annotations

import importlib
import importlib.util
import os
import signal
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, NoReturn

from ..frames import GraphStatus
from .open import GraphError, LoadedGraph

# Time limit for loading a module, so that one that never finishes does not block the others.
_LOAD_SECONDS = 60


@dataclass(slots=True)
class GraphEntry:
    """A graph of langgraph.json: loaded, or with the error for its developer."""

    description: str | None
    graph: LoadedGraph | None = None
    error: str = ""

    @property
    def status(self) -> GraphStatus:
        if self.graph:
            status: GraphStatus = {"ok": True, "description": self.description}
            if notes := self.graph.replaced_parts:
                status["notes"] = notes
            return status
        return {"ok": False, "description": self.description, "error": self.error}


def add_dependencies(project: dict[str, Any]) -> None:
    """Makes the directories that langgraph.json names as dependencies importable, after what is installed."""
    directory = Path(project["dir"])
    paths = [directory]
    for dependency in project.get("dependencies") or ["."]:
        path = (directory / dependency).resolve()
        if path.is_dir():
            paths.append(path)
    for path in [*paths, *(path / "src" for path in paths)]:
        if path.is_dir() and str(path) not in sys.path:
            sys.path.append(str(path))


def load_graphs(project: dict[str, Any]) -> dict[str, GraphEntry]:
    add_dependencies(project)
    return {graph_id: _load_entry(project["dir"], graph) for graph_id, graph in project["graphs"].items()}


def _load_entry(directory: str, graph: dict[str, Any]) -> GraphEntry:
    entry = GraphEntry(graph.get("description"))
    try:
        entry.graph = LoadedGraph(_exported(directory, graph["path"]), graph["path"])
    except GraphError as error:
        entry.error = str(error)
    except KeyboardInterrupt:
        raise
    # the module's own code: SystemExit too
    except BaseException as error:
        entry.error = _describe_import_error(error, directory)
    return entry


def _exported(directory: str, path: str) -> Any:
    source, _, name = path.rpartition(":")
    if not source or not name:
        raise GraphError(f"{path} names no variable. Write ./file.py:variable or package.module:variable.")
    module = _within_limit(directory, source, path)
    value: Any = module
    for part in name.split("."):
        if not hasattr(value, part):
            names = [key for key in vars(module) if not key.startswith("_")]
            raise GraphError(f'{path}: the module has no variable "{part}". It has: {", ".join(names) or "none"}.')
        value = getattr(value, part)
    return value


def _within_limit(directory: str, source: str, path: str) -> ModuleType:
    def stop(number: int, frame: FrameType | None) -> NoReturn:
        raise GraphError(
            f"{path}: the module was still loading after {_LOAD_SECONDS} s. Check whether it waits for something at "
            "the top level."
        )

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, _LOAD_SECONDS)
    try:
        return _load_module(directory, source, path)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _load_module(directory: str, source: str, path: str) -> ModuleType:
    if not source.endswith(".py") and "/" not in source:
        return importlib.import_module(source)
    file = Path(directory, source).resolve()
    if not file.is_file():
        raise GraphError(f"{path}: there is no file {file}. Graph paths are relative to langgraph.json.")
    name = _package_name(file)
    if name:
        spec = importlib.util.find_spec(name)
        if spec and spec.origin and os.path.realpath(spec.origin) == str(file):
            return importlib.import_module(name)
    name = "heddle_graph_" + "".join(c if c.isalnum() else "_" for c in source)
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise GraphError(f"{path}: {file} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _package_name(file: Path) -> str | None:
    """Returns the dotted name of a file that is importable, so that it is loaded once and relative imports work."""
    parts = [file.stem] if file.stem != "__init__" else []
    directory = file.parent
    while (directory / "__init__.py").is_file():
        parts.insert(0, directory.name)
        directory = directory.parent
    if len(parts) < 2 and file.stem != "__init__" and not (file.parent / "__init__.py").is_file():
        # a single module: its directory may be importable
        return file.stem if str(file.parent) in sys.path and file.stem.isidentifier() else None
    return ".".join(parts) if str(directory) in sys.path and all(p.isidentifier() for p in parts) else None


def _describe_import_error(error: BaseException, directory: str) -> str:
    """Returns the error with the place in the project's own code that raised it."""
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(directory)]
    own = [frame for frame in frames if "site-packages" not in frame.filename]
    if own and not isinstance(error, SyntaxError):
        at = own[-1]
        text = f"{text}\n  at {os.path.relpath(at.filename, directory)}:{at.lineno}, {at.line}"
    if isinstance(error, ModuleNotFoundError) and error.name:
        text += f"\nInstall the package of {error.name} in the project's environment ({sys.executable})."
    return text
