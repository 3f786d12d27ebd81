"""A small asyncio client for PostgreSQL: extended protocol, pipelined, prepared statements.

The project's environment may have no driver, and the host must add nothing to it. Parameters are text, except bytes,
which are binary; results are text, except bytea (binary) and int4/bool, which are converted.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import os
import socket
import ssl
import struct
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

Parameter = str | bytes | int | None
Row = tuple[Any, ...]

_BYTEA, _BOOL, _INT8, _INT2, _INT4 = 17, 16, 20, 21, 23


class DatabaseError(Exception):
    """Error that the database reports, with its SQLSTATE."""

    def __init__(self, fields: dict[str, str]) -> None:
        super().__init__(fields.get("M", "database error"))
        self.code = fields.get("C", "")
        self.fields = fields


class ConnectionLostError(Exception):
    """No answer arrived: the statement may or may not have been executed."""


@dataclass(slots=True)
class Address:
    host: str
    port: int
    user: str
    password: str
    database: str
    sslmode: str
    sslrootcert: str | None = None

    @property
    def is_socket(self) -> bool:
        return self.host.startswith("/")


def parse_url(url: str, socket_directory: str | None = None) -> Address:
    """Parses a `postgres://` URL. `socket_directory` replaces its host."""
    parts = urlsplit(url)
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    user = unquote(parts.username or query.get("user") or os.environ.get("PGUSER") or "postgres")
    return Address(
        host=socket_directory or query.get("host") or unquote(parts.hostname or "") or "localhost",
        port=int(parts.port or query.get("port") or 5432),
        user=user,
        password=unquote(parts.password or query.get("password") or ""),
        database=unquote(parts.path.lstrip("/")) or query.get("dbname") or user,
        sslmode=query.get("sslmode") or query.get("ssl") or "prefer",
        sslrootcert=query.get("sslrootcert"),
    )


class _Statement:
    __slots__ = ("converters", "name", "result_formats")

    def __init__(self, name: str) -> None:
        self.name = name
        self.converters: list[int] | None = None
        self.result_formats = b"\0\0"


class _Query:
    __slots__ = ("error", "future", "rows", "statement", "text")

    def __init__(self, text: str, statement: _Statement | None, future: asyncio.Future[list[Row]]) -> None:
        self.text = text
        self.statement = statement
        self.future = future
        self.rows: list[Row] = []
        self.error: DatabaseError | None = None


class Connection(asyncio.Protocol):
    """One session. Queries are pipelined: each ends with its own Sync, so that one's failure spares the others."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._queries: deque[_Query] = deque()
        self._statements: dict[str, _Statement] = {}
        self._preparing: dict[str, asyncio.Future[_Statement]] = {}
        self._started: asyncio.Future[None] = self._loop.create_future()
        self._address: Address | None = None
        self._scram: _Scram | None = None
        self._parameter_types: list[int] = []
        self._columns: list[int] = []
        self.closed = False
        self.last_answer = 0.0
        self.authentication = "trust"
        """The method that the server asked for, named as in pg_hba.conf."""

    @classmethod
    async def open(
        cls, address: Address, parameters: dict[str, str], timeout: float = 10, settings: dict[str, str] | None = None
    ) -> Connection:
        """Opens a session. Raises ConnectionLostError, OSError or DatabaseError.

        `parameters` belong to the start-up, where PgBouncer accepts few; `settings` are set once it is over.
        """
        return await asyncio.wait_for(cls._open(address, parameters, settings or {}), timeout)

    @classmethod
    async def _open(cls, address: Address, parameters: dict[str, str], settings: dict[str, str]) -> Connection:
        loop = asyncio.get_running_loop()
        if address.is_socket:
            path = f"{address.host}/.s.PGSQL.{address.port}"
            _, connection = await loop.create_unix_connection(cls, path)
        else:
            connection = await cls._open_tcp(address)
        connection._address = address
        options = {"user": address.user, "database": address.database, "client_encoding": "UTF8", **parameters}
        body = struct.pack(">I", 196608) + b"".join(
            name.encode() + b"\0" + value.encode() + b"\0" for name, value in options.items()
        )
        connection._send(struct.pack(">I", len(body) + 5) + body + b"\0")
        try:
            await connection._started
            if settings:
                changes = ", ".join(f"set_config('{name}', '{value}', false)" for name, value in settings.items())
                await connection.fetch(f"select {changes}", [])
        except BaseException:
            connection.close()
            raise
        return connection

    @classmethod
    async def _open_tcp(cls, address: Address) -> Connection:
        loop = asyncio.get_running_loop()
        mode = address.sslmode
        sock = await _connect(address)
        try:
            if mode in ("disable", "allow", "false"):
                _, connection = await loop.create_connection(cls, sock=sock)
                return connection
            await loop.sock_sendall(sock, struct.pack(">II", 8, 80877103))
            answer = await loop.sock_recv(sock, 1)
            if answer == b"S":
                context = _tls_context(address)
                _, connection = await loop.create_connection(cls, sock=sock, ssl=context, server_hostname=address.host)
                return connection
            if mode not in ("prefer", ""):
                raise ConnectionLostError(f"{address.host} does not offer TLS, but sslmode is {mode}")
            _, connection = await loop.create_connection(cls, sock=sock)
            return connection
        except BaseException:
            sock.close()
            raise

    async def fetch(self, text: str, parameters: Sequence[Parameter]) -> list[Row]:
        """Executes a statement, prepared at its first use. Raises DatabaseError or ConnectionLostError."""
        statement = self._statements.get(text) or await self._prepare(text)
        if self.closed:
            raise ConnectionLostError("The connection to the database is closed")
        values: list[bytes] = []
        formats: list[bytes] = []
        for value in parameters:
            if value is None:
                values.append(b"\xff\xff\xff\xff")
                formats.append(b"\0\0")
                continue
            data = value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
            values.append(struct.pack(">i", len(data)) + data)
            formats.append(b"\0\1" if isinstance(value, bytes) else b"\0\0")
        count = struct.pack(">h", len(values))
        bind = b"".join(
            (b"\0", statement.name.encode(), b"\0", count, *formats, count, *values, statement.result_formats)
        )
        query = _Query(text, statement, self._loop.create_future())
        self._queries.append(query)
        self._send(_message(b"B", bind) + b"E\0\0\0\x09\0\0\0\0\0" + b"S\0\0\0\4")
        return await query.future

    async def _prepare(self, text: str) -> _Statement:
        waiting = self._preparing.get(text)
        if waiting is None:
            waiting = asyncio.ensure_future(self._parse(text))
            self._preparing[text] = waiting
            waiting.add_done_callback(lambda _: self._preparing.pop(text, None))
        return await asyncio.shield(waiting)

    async def _parse(self, text: str) -> _Statement:
        if self.closed:
            raise ConnectionLostError("The connection to the database is closed")
        statement = _Statement(f"s{len(self._statements) + len(self._preparing)}_{id(text)}")
        name = statement.name.encode()
        query = _Query(text, statement, self._loop.create_future())
        self._queries.append(query)
        parse = _message(b"P", name + b"\0" + text.encode() + b"\0\0\0")
        self._send(parse + _message(b"D", b"S" + name + b"\0") + b"S\0\0\0\4")
        await query.future
        self._statements[text] = statement
        return statement

    def close(self) -> None:
        if self._transport and not self.closed:
            self._transport.write(b"X\0\0\0\4")
            self._transport.close()
        self._lost(None)

    def abort(self) -> None:
        """Closes the connection without waiting for what is in flight."""
        if self._transport:
            self._transport.abort()
        self._lost(None)

    @property
    def busy(self) -> int:
        return len(self._queries)

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        sock = transport.get_extra_info("socket")
        if sock is not None and sock.family != socket.AF_UNIX:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost(exc)

    def data_received(self, data: bytes) -> None:
        self.last_answer = self._loop.time()
        buffer = self._buffer
        buffer += data
        at = 0
        end = len(buffer)
        while end - at >= 5:
            length = int.from_bytes(buffer[at + 1 : at + 5], "big") + 1
            if end - at < length:
                break
            self._receive(buffer[at], bytes(buffer[at + 5 : at + length]))
            at += length
        if at:
            del buffer[:at]

    def _receive(self, kind: int, body: bytes) -> None:
        if kind == 0x44:  # DataRow
            query = self._queries[0]
            query.rows.append(_row(body, query.statement))
        elif kind == 0x5A:  # ReadyForQuery
            self._ready()
        elif kind == 0x45:  # ErrorResponse
            self._failed(DatabaseError(_fields(body)))
        elif kind == 0x54:  # RowDescription
            self._described(body)
        elif kind == 0x52:  # Authentication
            self._authenticate(body)
        # others are ParseComplete, BindComplete, CommandComplete, ParameterStatus, notices

    def _ready(self) -> None:
        if not self._started.done():
            self._started.set_result(None)
            return
        query = self._queries.popleft()
        if query.future.done():
            return
        if query.error:
            query.future.set_exception(query.error)
        else:
            query.future.set_result(query.rows)

    def _failed(self, error: DatabaseError) -> None:
        if not self._started.done():
            self._started.set_exception(error)
        elif self._queries:
            self._queries[0].error = error

    def _described(self, body: bytes) -> None:
        statement = self._queries[0].statement
        if statement is None:
            return
        (count,) = struct.unpack_from(">h", body)
        at = 2
        oids: list[int] = []
        for _ in range(count):
            at = body.index(b"\0", at) + 1
            oids.append(struct.unpack_from(">I", body, at + 6)[0])
            at += 18
        statement.converters = oids
        formats = b"".join(b"\0\1" if oid == _BYTEA else b"\0\0" for oid in oids)
        statement.result_formats = struct.pack(">h", count) + formats

    def _authenticate(self, body: bytes) -> None:
        assert self._address is not None
        (kind,) = struct.unpack_from(">I", body)
        password, user = self._address.password, self._address.user
        try:
            if kind == 0:
                return
            self.authentication = _METHODS.get(kind, self.authentication)
            if kind == 3:
                self._send(_message(b"p", password.encode() + b"\0"))
            elif kind == 5:
                inner = hashlib.md5((password + user).encode()).hexdigest().encode()
                self._send(_message(b"p", b"md5" + hashlib.md5(inner + body[4:8]).hexdigest().encode() + b"\0"))
            elif kind == 10:
                if b"SCRAM-SHA-256" not in body[4:].split(b"\0"):
                    raise ConnectionLostError("The database asks for an authentication method that is not supported")
                self._scram = _Scram(password)
                first = self._scram.first()
                self._send(_message(b"p", b"SCRAM-SHA-256\0" + struct.pack(">i", len(first)) + first))
            elif kind == 11 and self._scram:
                self._send(_message(b"p", self._scram.proof(body[4:])))
            elif kind == 12 and self._scram:
                self._scram.verify(body[4:])
            else:
                raise ConnectionLostError(f"The database asks for authentication method {kind}, which is not supported")
        except (ConnectionLostError, ValueError, KeyError) as error:
            if not self._started.done():
                self._started.set_exception(ConnectionLostError(str(error)))

    def _send(self, data: bytes) -> None:
        assert self._transport is not None
        self._transport.write(data)

    def _lost(self, cause: Exception | None) -> None:
        if self.closed:
            return
        self.closed = True
        error = ConnectionLostError(f"The connection to the database was lost{f': {cause}' if cause else ''}")
        if not self._started.done():
            self._started.set_exception(error)
        for query in self._queries:
            if not query.future.done():
                query.future.set_exception(query.error or error)
        self._queries.clear()


_METHODS = {3: "password", 5: "md5", 10: "scram-sha-256"}


class _Scram:
    """SCRAM-SHA-256 (RFC 5802, RFC 7677), without channel binding."""

    def __init__(self, password: str) -> None:
        self._password = password.encode()
        self._nonce = base64.b64encode(os.urandom(18)).decode()
        self._bare = f"n=,r={self._nonce}"
        self._signature = b""

    def first(self) -> bytes:
        return f"n,,{self._bare}".encode()

    def proof(self, challenge: bytes) -> bytes:
        text = challenge.decode()
        fields = dict(part.split("=", 1) for part in text.split(","))
        if not fields["r"].startswith(self._nonce):
            raise ValueError("The database answered SCRAM authentication with another nonce")
        salted = hashlib.pbkdf2_hmac("sha256", self._password, base64.b64decode(fields["s"]), int(fields["i"]))
        final = f"c=biws,r={fields['r']}"
        message = f"{self._bare},{text},{final}".encode()
        client = hmac.digest(salted, b"Client Key", "sha256")
        signature = hmac.digest(hashlib.sha256(client).digest(), message, "sha256")
        proof = bytes(a ^ b for a, b in zip(client, signature, strict=True))
        self._signature = hmac.digest(hmac.digest(salted, b"Server Key", "sha256"), message, "sha256")
        return f"{final},p={base64.b64encode(proof).decode()}".encode()

    def verify(self, final: bytes) -> None:
        fields = dict(part.split("=", 1) for part in final.decode().split(","))
        if not hmac.compare_digest(base64.b64decode(fields["v"]), self._signature):
            raise ValueError("The database could not prove that it knows the password")


async def _connect(address: Address) -> socket.socket:
    loop = asyncio.get_running_loop()
    failure: OSError | None = None
    found = await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    for family, kind, proto, _, target in found:
        sock = socket.socket(family, kind, proto)
        sock.setblocking(False)
        try:
            await loop.sock_connect(sock, target)
            return sock
        except OSError as error:
            failure = error
            sock.close()
    raise failure or OSError(f"{address.host} has no address")


def _tls_context(address: Address) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=address.sslrootcert)
    if address.sslmode not in ("verify-full", "verify-ca"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif address.sslmode == "verify-ca":
        context.check_hostname = False
    return context


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack(">I", len(body) + 4) + body


def _fields(body: bytes) -> dict[str, str]:
    return {part[:1].decode(): part[1:].decode("utf-8", "replace") for part in body.split(b"\0") if part}


def _row(body: bytes, statement: _Statement | None) -> Row:
    (count,) = struct.unpack_from(">h", body)
    oids = statement.converters if statement else None
    values: list[Any] = []
    at = 2
    for column in range(count):
        (length,) = struct.unpack_from(">i", body, at)
        at += 4
        if length < 0:
            values.append(None)
            continue
        data = body[at : at + length]
        at += length
        oid = oids[column] if oids else 0
        if oid == _BYTEA:
            values.append(data)
        elif oid in (_INT2, _INT4, _INT8):
            values.append(int(data))
        elif oid == _BOOL:
            values.append(data == b"t")
        else:
            values.append(data.decode())
    return tuple(values)
