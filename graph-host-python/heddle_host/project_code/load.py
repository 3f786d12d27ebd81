"""Loads what langgraph.json names: ``./file.py:name`` or ``package.module:name``."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from pathlib import Path
from typing import Any


class LoadError(Exception):
    """The project's code cannot be used as it is. The message is for its developer."""


def extend_path(directory: str, dependencies: list[str]) -> None:
    """Makes the project's modules importable, as LangGraph's own CLI does."""
    paths = [directory, *(os.path.join(directory, name) for name in dependencies if name.startswith("."))]
    for path in map(os.path.abspath, paths):
        if os.path.isdir(path) and path not in sys.path:
            sys.path.append(path)
        source = os.path.join(path, "src")
        if os.path.isdir(source) and source not in sys.path:
            sys.path.append(source)


def describe_load_error(error: BaseException) -> str:
    """Returns a LoadError's message, or the traceback without the frames of this package and of the import system."""
    if isinstance(error, LoadError):
        return str(error)
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "heddle_host" not in frame.filename and not frame.filename.startswith("<frozen")
    ]
    lines = ["".join(traceback.format_exception_only(type(error), error)).strip()]
    lines += [f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in reversed(frames[-4:])]
    return "\n".join(lines)


def load_export(directory: str, path: str, key: str) -> Any:
    """Returns the object. ``key`` is the key of langgraph.json that names it, for messages."""
    where, _, name = path.rpartition(":")
    if not where or not name:
        raise LoadError(f'{key}: {path} names no object. Write "./file.py:name".')
    if where.endswith(".py") or "/" in where:
        file = Path(directory, where).resolve()
        if not file.is_file():
            raise LoadError(f"{key}: there is no file {file}. Paths are relative to langgraph.json.")
        module = _load_file(file)
    else:
        module = importlib.import_module(where)
    try:
        return getattr(module, name)
    except AttributeError:
        names = ", ".join(sorted(n for n in vars(module) if not n.startswith("_"))) or "nothing"
        raise LoadError(f'{key}: {where} has no "{name}". It defines: {names}.') from None


def _load_file(file: Path) -> Any:
    # a module that is also imported by its name is loaded once
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == str(file):
            return module
    name = _dotted_name(file) or f"heddle_project_{abs(hash(str(file)))}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise LoadError(f"{file} is not a Python module.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _dotted_name(file: Path) -> str | None:
    """The name under which other modules import this file, so that it is loaded once; None if they cannot."""
    parts = [file.stem]
    directory = file.parent
    while (directory / "__init__.py").is_file():
        parts.insert(0, directory.name)
        directory = directory.parent
    if str(directory) not in sys.path:
        return None
    if len(parts) == 1:
        try:
            spec = importlib.util.find_spec(file.stem) if file.stem.isidentifier() else None
        except (ImportError, ValueError):
            return None
        return file.stem if spec and spec.origin and os.path.realpath(spec.origin) == str(file) else None
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    try:
        importlib.import_module(name.rpartition(".")[0])
    except Exception:
        return None
    return name
