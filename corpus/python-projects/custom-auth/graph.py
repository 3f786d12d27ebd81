from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, MessagesState, StateGraph


def hello(state: MessagesState, config: RunnableConfig) -> dict[str, object]:
    user = config["configurable"]["langgraph_auth_user"]
    return {"messages": [AIMessage(f"Hello {user['identity']}")]}


graph = StateGraph(MessagesState).add_node(hello).add_edge(START, "hello").compile()
