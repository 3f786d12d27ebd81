"""Tests against a real Postgres: HEDDLE_TEST_DATABASE_URI names a database with the server's schema.

`scripts/services/python-suite.ts` starts one and sets the variable. Without it, tests that need it fail.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import pytest
import pytest_asyncio
from psycopg import AsyncConnection, AsyncRawCursor

from heddle_host.checkpoints.remote import RemoteCheckpoints
from heddle_host.task_contexts import install_task_contexts

from .checkpoint_server import connect, serve_checkpoints

install_task_contexts()


def database_uri() -> str:
    uri = os.environ.get("HEDDLE_TEST_DATABASE_URI")
    assert uri, "HEDDLE_TEST_DATABASE_URI is not set: run these tests with scripts/services/python-suite.ts"
    return uri


async def fetch(statement: Any, parameters: Sequence[Any] = ()) -> list[Any]:
    """Returns the rows of a statement with parameters $1, $2 …"""
    async with await AsyncConnection.connect(database_uri(), autocommit=True, cursor_factory=AsyncRawCursor) as opened:
        found = await opened.execute(statement, parameters)
        return await found.fetchall() if found.description else []


@pytest.fixture(scope="session")
def checkpoint_socket() -> Iterator[str]:
    with serve_checkpoints(database_uri()) as path:
        yield path


@pytest_asyncio.fixture
async def checkpoints(checkpoint_socket: str) -> AsyncIterator[RemoteCheckpoints]:
    opened, close = await connect(checkpoint_socket)
    yield opened
    close()
