import uuid

from langchain_core.messages import SystemMessage
from langchain_core.runnables import RunnableConfig
from langchain_openai import ChatOpenAI
from langgraph.config import get_store
from langgraph.graph import START, MessagesState, StateGraph
from prompts import greeting


class State(MessagesState):
    found: list[str]


def remember(state: State, config: RunnableConfig) -> dict[str, list[str]]:
    store = get_store()
    user = config["configurable"].get("user_id", "anybody")
    text = str(state["messages"][-1].content)
    found = store.search(("notes", user), query=text, limit=1)
    store.put(("notes", user), str(uuid.uuid4()), {"text": text})
    return {"found": [item.value["text"] for item in found]}


def answer(state: State, config: RunnableConfig) -> dict[str, object]:
    name = config["configurable"].get("user_id", "anybody")
    model = ChatOpenAI(model="gpt-4.1-mini")
    return {"messages": [model.invoke([SystemMessage(greeting(name)), *state["messages"]])]}


graph = StateGraph(State).add_node(remember).add_node(answer).add_edge(START, "remember").add_edge("remember", "answer").compile()
