"""Channels of protocol v2 beyond values, messages and lifecycle. langgraph before 1.2 has none of them."""

from typing import Any

tools: dict[str, Any] = {}
custom: dict[str, Any] = {}
try:
    from langgraph.prebuilt import ToolCallTransformer
    from langgraph.stream import CustomTransformer
except ImportError:
    pass
else:
    tools = {"transformers": [ToolCallTransformer]}
    custom = {"transformers": [CustomTransformer]}
