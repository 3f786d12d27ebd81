import unittest
from typing import Any

from langgraph.checkpoint.memory import MemorySaver
from langgraph.types import Command

from approval.graph import graph


class ApprovalTest(unittest.TestCase):
    def setUp(self) -> None:
        graph.checkpointer = MemorySaver()
        self.config: Any = {"configurable": {"thread_id": "one"}}
        self.asked = graph.invoke({"topic": "lunch"}, self.config)

    def answer(self, answer: Any) -> Any:
        return graph.invoke(Command(resume=answer), self.config)

    def test_asks_before_it_sends(self) -> None:
        self.assertEqual(self.asked["__interrupt__"][0].value["question"], "Shall this be sent?")
        self.assertEqual(self.answer("approve")["status"], "sent")

    def test_an_edited_text_is_reviewed_again(self) -> None:
        edited = self.answer({"action": "edit", "draft": "Dear Ada, at noon?"})
        self.assertEqual(edited["__interrupt__"][0].value["draft"], "Dear Ada, at noon?")

    def test_a_rejected_text_is_not_sent(self) -> None:
        self.assertEqual(self.answer({"action": "reject", "reason": "too late"})["status"], "rejected")
