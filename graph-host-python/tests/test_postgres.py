"""The Postgres client."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from heddle_host.postgres import Connection, ConnectionLostError, DatabaseError, parse_url

from .conftest import database_uri


async def connect() -> Connection:
    return await Connection.open(parse_url(database_uri()), {"application_name": "test"})


async def test_passes_text_bytes_and_null_and_converts_results() -> None:
    connection = await connect()
    row = ["ä\\'\"", bytes(range(256)), None, 7]
    sql = "select $1::text, $2::bytea, $3::text, $4::int, $4::int > 6"
    assert await connection.fetch(sql, row) == [(*row, True)]
    connection.close()


async def test_an_error_fails_its_own_query_among_pipelined_ones() -> None:
    connection = await connect()
    texts = ["select 1", "select 1 / $1::int", "select 3"]
    results = await asyncio.gather(
        connection.fetch(texts[0], []),
        connection.fetch(texts[1], [0]),
        connection.fetch(texts[2], []),
        return_exceptions=True,
    )
    assert results[0] == [(1,)] and results[2] == [(3,)]
    assert isinstance(results[1], DatabaseError) and results[1].code == "22012"
    connection.close()


async def test_a_statement_with_a_syntax_error_is_reported_with_its_sqlstate() -> None:
    connection = await connect()
    with pytest.raises(DatabaseError) as raised:
        await connection.fetch("selec 1", [])
    assert raised.value.code == "42601"
    assert await connection.fetch("select 1", []) == [(1,)]
    connection.close()


@pytest.mark.parametrize("method", ["scram-sha-256", "md5", "password"])
async def test_authenticates_with_a_password_over_tcp(method: str) -> None:
    owner = parse_url(database_uri())
    right = replace(owner, user="heddle_login", password="pass,w=\u00f6rd")
    assert not right.is_socket
    admin = await connect()
    [(file,)] = await admin.fetch("select setting from pg_settings where name = 'hba_file'", [])
    [(rules,)] = await admin.fetch("select pg_read_file($1)", [file])

    async def use(text: str) -> None:
        # the statement takes no parameters
        quoted = "E'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
        rows = f"select unnest(string_to_array({quoted}, E'\\n'))"
        await admin.fetch(f"copy ({rows}) to '{file}'", [])
        await admin.fetch("select pg_reload_conf()", [])

    try:
        await use(f"host all {right.user} all {method}\n{rules}")
        await admin.fetch(f"set password_encryption = '{'md5' if method == 'md5' else 'scram-sha-256'}'", [])
        await admin.fetch(f"drop role if exists {right.user}", [])
        await admin.fetch(f"create role {right.user} login password '{right.password}'", [])
        connection = await Connection.open(right, {})
        assert await connection.fetch("select current_user::text", []) == [(right.user,)]
        assert connection.authentication == method
        connection.close()
        with pytest.raises(DatabaseError) as rejected:
            await Connection.open(replace(right, password="wrong"), {})
        assert rejected.value.code == "28P01"
    finally:
        await use(rules)
        await admin.fetch(f"drop role if exists {right.user}", [])
        admin.close()


async def test_a_lost_connection_fails_what_is_in_flight() -> None:
    connection = await connect()
    query = asyncio.ensure_future(connection.fetch("select pg_sleep(1)", []))
    await asyncio.sleep(0.1)
    connection.abort()
    with pytest.raises(ConnectionLostError):
        await query


@pytest.mark.parametrize(
    ("url", "socket", "expected"),
    [
        ("postgres://u:p%40@h:1/d?sslmode=require", None, ("h", 1, "u", "p@", "d", "require")),
        ("postgresql://u@[::1]/d", None, ("::1", 5432, "u", "", "d", "prefer")),
        ("postgres://u@h/d", "/run/pg", ("/run/pg", 5432, "u", "", "d", "prefer")),
        ("postgres:///d?host=/var/run&user=x", None, ("/var/run", 5432, "x", "", "d", "prefer")),
    ],
)
def test_parses_urls(url: str, socket: str | None, expected: tuple[str, int, str, str, str, str]) -> None:
    address = parse_url(url, socket)
    parts = (address.host, address.port, address.user, address.password, address.database, address.sslmode)
    assert parts == expected
