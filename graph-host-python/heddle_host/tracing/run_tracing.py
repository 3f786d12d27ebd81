from __future__ import annotations

from typing import Any


class RunTracing:
    def start(self, start: dict[str, Any], kwargs: dict[str, Any]) -> Any:
        return None

    def direct(self, to: dict[str, Any]) -> None: ...

    def close(self, lost: dict[str, Any]) -> None: ...

    async def flush(self, milliseconds: int) -> None: ...
