"""The project's own encryption, ``encryption.path``: an ``Encryption`` of langgraph_sdk. Its blob handlers encrypt the
data keys of stored state.
"""

from __future__ import annotations

import asyncio
import base64
from typing import Any

from .load import LoadError

_KEY = "encryption.path"
_LIMIT_SECONDS = 30


class Encryption:
    def __init__(self, encryption: Any, path: str) -> None:
        self._encryptor = getattr(encryption, "_blob_encryptor", None)
        self._decryptor = getattr(encryption, "_blob_decryptor", None)
        self._path = path
        if getattr(encryption, "_context_handler", None) is not None:
            raise LoadError(f"{_KEY}: {path} has a handler for context, which Heddle does not support.")
        if any(getattr(encryption, name, None) is not None for name in ("_json_encryptor", "_json_decryptor")):
            raise LoadError(
                f"{_KEY}: {path} has a handler for json, which Heddle does not call: inputs, values and store items "
                "are encrypted as a whole with data keys, and metadata and config stay readable. Remove encrypt.json "
                "and decrypt.json, and keep secrets out of metadata and config."
            )
        if self._encryptor is None or self._decryptor is None:
            raise LoadError(
                f"{_KEY}: {path} must be an Encryption of langgraph_sdk "
                "with handlers for encrypt.blob and decrypt.blob."
            )

    async def convert(self, operation: str, data: bytes) -> dict[str, str | None]:
        from langgraph_sdk.encryption.types import EncryptionContext

        handler = self._encryptor if operation == "encrypt" else self._decryptor
        assert handler is not None
        context = EncryptionContext(model="checkpoint")
        try:
            result = await asyncio.wait_for(handler(context, data), _LIMIT_SECONDS)
        except asyncio.TimeoutError:
            raise TimeoutError(f"a handler of {self._path} did not answer within {_LIMIT_SECONDS} s") from None
        replacement = getattr(result, "replacement", None)
        plain = getattr(result, "plaintext", result)
        if not isinstance(plain, bytes):
            raise TypeError(f"{operation}.blob of {self._path} must return bytes, not {type(plain).__name__}")
        return {
            "key": base64.b64encode(plain).decode(),
            "replacement": None if replacement is None else base64.b64encode(replacement).decode(),
        }
