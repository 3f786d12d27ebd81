from __future__ import annotations

import importlib
import sys
from pathlib import Path

from heddle_host.loaded_files import LoadedFiles


def test_names_each_file_of_the_project_once_when_it_is_loaded(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "loaded_early.py").write_text("word = 1")
    (tmp_path / "loaded_late.py").write_text("word = 2")
    (tmp_path / "never_loaded.py").write_text("word = 3")
    monkeypatch.syspath_prepend(str(tmp_path))
    files = LoadedFiles(str(tmp_path))
    try:
        importlib.import_module("loaded_early")
        assert files.take() == [str(tmp_path / "loaded_early.py")]
        assert files.take() == []
        importlib.import_module("loaded_late")
        assert files.take() == [str(tmp_path / "loaded_late.py")]
        assert files.all() == [str(tmp_path / "loaded_early.py"), str(tmp_path / "loaded_late.py")]
    finally:
        sys.modules.pop("loaded_early", None)
        sys.modules.pop("loaded_late", None)
