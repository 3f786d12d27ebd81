import type { Client, Thread } from "@langchain/langgraph-sdk";
import { useCallback, useEffect, useState } from "react";

import { ASSISTANT } from "./client.ts";

interface Question {
  threadId: string;
  id: string;
  text: string;
}

/** The questions that wait for staff, of all customers. */
export function Inbox({ client }: { client: Client }) {
  const [questions, setQuestions] = useState<Question[]>();
  const [error, setError] = useState<string>();

  const load = useCallback(async () => {
    try {
      setQuestions((await client.threads.search({ status: "interrupted", limit: 50 })).flatMap(questionsOf));
    } catch (failure) {
      setError((failure as Error).message);
    }
  }, [client]);
  useEffect(() => {
    void load();
    const timer = setInterval(() => void load(), 2000);
    return () => clearInterval(timer);
  }, [load]);

  const answer = async ({ threadId, id }: Question, approved: boolean) => {
    try {
      // by the id of the question, so that an answer never meets another question than the one that was read
      await client.runs.wait(threadId, ASSISTANT, { command: { resume: { [id]: { approved } } } });
    } catch (failure) {
      setError((failure as Error).message);
    }
    await load();
  };

  return (
    <>
      {error !== undefined && <p role="alert">{error}</p>}
      {questions?.length === 0 && <p>No questions.</p>}
      <ol>
        {questions?.map((question) => (
          <li key={question.id}>
            {question.text} <button onClick={() => void answer(question, true)}>Approve</button>{" "}
            <button onClick={() => void answer(question, false)}>Reject</button>
          </li>
        ))}
      </ol>
    </>
  );
}

function questionsOf({ thread_id: threadId, interrupts }: Thread): Question[] {
  return Object.values(interrupts)
    .flat()
    .map(({ id, value }) => ({ threadId, id: id!, text: (value as { question: string }).question }));
}
