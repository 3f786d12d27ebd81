"""The embedding function of ``store.index.embed``: a function of the project, or a model of a provider."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Awaitable, Callable
from typing import Any

from .load import LoadError, load_export

_KEY = "store.index.embed"
_PROVIDER = re.compile(r"^([a-z_-]{2,}):(?![\\/])(.+)$")


class Embedder:
    def __init__(self, directory: str, spec: str) -> None:
        is_file = (
            "/" in spec.rpartition(":")[0]
            or spec.rpartition(":")[0].endswith((".py", "."))
            or "." in spec.split(":")[0]
        )
        if not is_file and _PROVIDER.match(spec):
            self._target = _provided(spec)
        else:
            self._target = load_export(directory, spec, _KEY)
        if not callable(self._target) and not hasattr(self._target, "embed_documents"):
            raise LoadError(f"{_KEY}: {spec} must be a function from texts to vectors, or an Embeddings object.")

    async def embed(self, texts: list[str], query: bool) -> list[list[float]]:
        target = self._target
        if hasattr(target, "aembed_documents"):
            if query:
                return [list(await target.aembed_query(text)) for text in texts]
            return [list(vector) for vector in await target.aembed_documents(texts)]
        if hasattr(target, "embed_documents"):
            return [list(vector) for vector in await asyncio.to_thread(target.embed_documents, texts)]
        return [list(vector) for vector in await _call(target, texts)]


async def _call(function: Callable[[list[str]], Any], texts: list[str]) -> Any:
    if inspect.iscoroutinefunction(function):
        return await function(texts)
    result = await asyncio.to_thread(function, texts)
    return await result if isinstance(result, Awaitable) else result


def _provided(spec: str) -> Any:
    try:
        from langchain.embeddings import init_embeddings  # pyright: ignore
    except ImportError:
        raise LoadError(
            f"{_KEY} names {spec}, which needs langchain: install it in the project (pip install langchain), with the "
            "provider's package."
        ) from None
    try:
        return init_embeddings(spec)
    except Exception as error:
        raise LoadError(f"{_KEY}: {spec} could not be set up: {error}") from error
