import os
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel, SimpleChatModel
from langchain_core.messages import BaseMessage


class LocalModel(SimpleChatModel):
    """A model by rules, without a network: words the number that it is asked about."""

    @property
    def _llm_type(self) -> str:
        return "local"

    def _call(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> str:
        slope = float(messages[-1].text)
        if slope == 0:
            return "The numbers stay as they are."
        return f"The numbers {'rise' if slope > 0 else 'fall'} by {abs(slope)} at each step."


def choose_model() -> BaseChatModel:
    """Returns a provider's model when its key is set, else the local one, which needs neither a key nor a network."""
    if os.environ.get("OPENAI_API_KEY"):
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(model=os.environ.get("OPENAI_MODEL", "gpt-4.1-mini"))
    if os.environ.get("ANTHROPIC_API_KEY"):
        from langchain_anthropic import ChatAnthropic

        return ChatAnthropic(model_name=os.environ.get("ANTHROPIC_MODEL", "claude-sonnet-4-5"))
    return LocalModel()
