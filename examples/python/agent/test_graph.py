import unittest

from langchain_core.messages import BaseMessage, HumanMessage

from agent.graph import graph


async def ask(text: str) -> list[BaseMessage]:
    state = await graph.ainvoke({"messages": [HumanMessage(text)]})
    messages: list[BaseMessage] = state["messages"]
    return messages


class AgentTest(unittest.IsolatedAsyncioTestCase):
    async def test_calls_the_weather_tool_and_says_what_it_answered(self) -> None:
        messages = await ask("What is the weather in Berlin?")
        self.assertEqual([message.type for message in messages], ["human", "ai", "tool", "ai"])
        self.assertRegex(messages[-1].text, "^In Berlin it is cloudy, 0 to 20 °C")

    async def test_calculates(self) -> None:
        self.assertEqual((await ask("What is (2 + 3) * 4?"))[-1].text, "(2 + 3) * 4 = 20")
