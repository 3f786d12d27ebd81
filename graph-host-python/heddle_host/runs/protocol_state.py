"""States as protocol v2 sends them (contract agent-server, section 19.5).

Messages have few fields, media blocks snake case, and interrupts are not part of the state. Works on plain JSON values,
see `to_plain`.
"""

from __future__ import annotations

import json
from typing import Any, TypeGuard, cast

Fields = dict[str, Any]

# Python's chunks of messages have the name of their class
_ROLES = {"user": "human", "assistant": "ai", "AIMessageChunk": "ai", "HumanMessageChunk": "human"}
_MESSAGES = {"human", "ai", "system", "tool", "function", "remove"}
_BLOCKS = {
    *("text", "reasoning", "tool_call", "tool_call_chunk", "invalid_tool_call", "non_standard"),
    *("server_tool_call", "server_tool_call_chunk", "server_tool_call_result", "image", "audio", "video", "file"),
}


def is_fields(value: Any) -> TypeGuard[Fields]:
    return isinstance(value, dict)


def protocol_state(value: Any) -> Any:
    if isinstance(value, list):
        return [protocol_state(item) for item in cast("list[Any]", value)]
    if not is_fields(value):
        return value
    if "content" in value and _role(value.get("type")) in _MESSAGES:
        return _message(value)
    return {key: protocol_state(field) for key, field in value.items() if key != "__interrupt__"}


def _role(kind: Any) -> str:
    if not isinstance(kind, str):
        return ""
    return _ROLES.get(kind, kind)


def _message(source: Fields) -> Fields:
    kind = _role(source["type"])
    message: Fields = {"type": kind, "content": _content(source["content"])}

    def keep(key: str, is_kept: bool) -> None:
        if is_kept:
            message[key] = source[key]

    keep("id", isinstance(source.get("id"), str))
    keep("name", isinstance(source.get("name"), str))
    keep("response_metadata", bool(source.get("response_metadata")))
    if kind in ("ai", "human"):
        keep("example", isinstance(source.get("example"), bool))
    if kind == "tool":
        keep("tool_call_id", isinstance(source.get("tool_call_id"), str))
        keep("status", source.get("status") in ("success", "error"))
        keep("artifact", source.get("artifact") is not None)
    if kind == "ai":
        calls, broken = _tool_calls(source)
        if calls:
            message["tool_calls"] = calls
        if broken:
            message["invalid_tool_calls"] = broken
    return message


def _fields_list(value: Any) -> list[Fields]:
    return [item for item in cast("list[Any]", value) if is_fields(item)] if isinstance(value, list) else []


def _tool_calls(message: Fields) -> tuple[list[Fields], list[Fields]]:
    """Returns the message's own calls, or those that some integrations leave in the provider's format."""
    more = message.get("additional_kwargs")
    raw_calls = _fields_list(message.get("tool_calls")) or _fields_list(more.get("tool_calls") if more else None)
    calls: list[Fields] = []
    broken: list[Fields] = []
    for call in raw_calls:
        function = call.get("function")
        function = function if is_fields(function) else {}
        known: Fields = {"id": call["id"]} if isinstance(call.get("id"), str) else {}
        name = call.get("name") or function.get("name")
        args = _parse_args(call["args"] if "args" in call else function.get("arguments"))
        if not isinstance(name, str):
            broken.append(_broken_call(known, "Incomplete tool call."))
        elif args is None:
            broken.append(_broken_call({**known, "name": name}, "Malformed args."))
        else:
            calls.append({**known, "name": name, "args": args, "type": "tool_call"})
    invalid = _fields_list(message.get("invalid_tool_calls"))
    if invalid:
        broken = [
            _broken_call({key: call.get(key) for key in ("id", "name", "args")}, call.get("error")) for call in invalid
        ]
    return calls, broken


def _broken_call(fields: Fields, error: Any) -> Fields:
    known = {key: value for key, value in fields.items() if isinstance(value, str)}
    return {**known, "error": error if isinstance(error, str) else "Malformed args.", "type": "invalid_tool_call"}


def _parse_args(args: Any) -> Any:
    """Returns the arguments; None for text that is not JSON."""
    if args is None or args == "":
        return {}
    if not isinstance(args, str):
        return args
    try:
        return json.loads(args)
    except ValueError:
        return None


def _content(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    blocks = cast("list[Any]", content)
    return [{"type": "text", "text": block} if isinstance(block, str) else _block(block) for block in blocks]


def _block(block: Any) -> Any:
    if not is_fields(block) or not isinstance(block.get("type"), str):
        return block
    kind: str = block["type"]
    rest = {key: value for key, value in block.items() if key not in ("type", "mimeType")}
    if kind in _BLOCKS:
        if isinstance(block.get("mimeType"), str) and "mime_type" not in rest:
            rest["mime_type"] = block["mimeType"]
        return {"type": kind, **rest}
    if kind == "image_url":
        image = rest.get("image_url")
        return {"type": "image", "url": image.get("url") if is_fields(image) else image}
    if kind == "input_audio" and is_fields(rest.get("input_audio")):
        return {"type": "audio", **rest["input_audio"]}
    return {"type": "non_standard", "value": block}
