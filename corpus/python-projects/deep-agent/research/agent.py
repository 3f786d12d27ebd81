from deepagents import create_deep_agent
from langchain_openai import ChatOpenAI


def internet_search(query: str) -> str:
    """Searches the internet."""
    return f"results for {query}"


model = ChatOpenAI(model="gpt-4.1-mini", use_responses_api=False)
critic = {
    "name": "critic",
    "description": "Judges a text",
    "system_prompt": "You judge texts.",
    "tools": [internet_search],
}
agent = create_deep_agent(model=model, tools=[internet_search], system_prompt="You research.", subagents=[critic])
