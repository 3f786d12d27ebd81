"""The project's own encryption, with the library's own class."""

from typing import Any

import pytest
from langgraph_sdk import Encryption as Declared

from heddle_host.project_code.encryption import Encryption
from heddle_host.project_code.load import LoadError


async def _same(context: Any, data: Any) -> Any:
    return data


def _with_blob_handlers() -> Declared:
    declared = Declared()
    declared.encrypt.blob(_same)
    declared.decrypt.blob(_same)
    return declared


def test_handlers_for_blobs_are_used() -> None:
    Encryption(_with_blob_handlers(), "encryption.py")


@pytest.mark.parametrize("side", ["encrypt", "decrypt"])
def test_handlers_for_json_are_rejected_because_they_would_not_be_called(side: str) -> None:
    declared = _with_blob_handlers()
    getattr(declared, side).json(_same)
    with pytest.raises(LoadError, match=r"json, which Heddle does not call.*keep secrets out of metadata"):
        Encryption(declared, "encryption.py")


def test_a_context_handler_is_rejected() -> None:
    declared = _with_blob_handlers()
    declared.context(_same)
    with pytest.raises(LoadError, match="context"):
        Encryption(declared, "encryption.py")
