"""The project's files that this process has loaded: the server replaces it when one of them changes."""

from __future__ import annotations

import os
import sys


class LoadedFiles:
    def __init__(self, directory: str) -> None:
        directories = {os.path.abspath(directory), os.path.realpath(directory)}
        self._roots = tuple(os.path.join(path, "") for path in directories)
        self._known: set[str] = set()
        self._modules = 0

    def take(self) -> list[str]:
        """Returns the files that were loaded since the last call."""
        if len(sys.modules) == self._modules:
            return []
        self._modules = len(sys.modules)
        new = set()
        for module in list(sys.modules.values()):
            file = getattr(module, "__file__", None)
            if isinstance(file, str) and file.startswith(self._roots) and "site-packages" not in file:
                new.add(file)
        new -= self._known
        self._known |= new
        return sorted(new)

    def all(self) -> list[str]:
        self.take()
        return sorted(self._known)
