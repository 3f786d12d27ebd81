import type { Client, Message } from "@langchain/langgraph-sdk";
import { useStream } from "@langchain/langgraph-sdk/react";
import { useEffect, useState } from "react";

import { ASSISTANT, sendThumb } from "./client.ts";

interface ChatProps {
  client: Client;
  threadId: string | null;
  onThread(id: string): void;
  /** Called when staff have answered the question that the conversation waits for. */
  onAnswered(): void;
}

/** A customer's conversation: answers as they are written, the question that waits for staff, and thumbs. */
export function Chat({ client, threadId, onThread, onAnswered }: ChatProps) {
  const [text, setText] = useState("");
  const [runId, setRunId] = useState<string>();
  const stream = useStream<{ messages: Message[] }, { InterruptType: { question: string } }>({
    client,
    assistantId: ASSISTANT,
    threadId,
    onThreadId: onThread,
    onCreated: ({ run_id }) => setRunId(run_id),
    reconnectOnMount: true,
  });
  const questions = stream.interrupts.flatMap(({ value }) => value?.question ?? []);
  const isWaiting = questions.length > 0 && !stream.isLoading;

  useEffect(() => {
    if (!isWaiting || threadId === null) return;
    const timer = setInterval(async () => {
      const { status } = await client.threads.get(threadId);
      if (status !== "interrupted" && status !== "busy") onAnswered();
    }, 2000);
    return () => clearInterval(timer);
  }, [client, isWaiting, onAnswered, threadId]);

  const shown = stream.messages.filter(({ type, content }) => type !== "tool" && textOf(content) !== "");
  const isAnswered = !stream.isLoading && !isWaiting && shown.at(-1)?.type === "ai";
  return (
    <>
      <ol>
        {shown.map((message, index) => (
          <li key={message.id ?? index} data-type={message.type}>
            {textOf(message.content)}
          </li>
        ))}
      </ol>
      {isWaiting && <p role="status">Waiting for a colleague: {questions.join(" ")}</p>}
      {stream.error != null && <p role="alert">{String((stream.error as Error).message ?? stream.error)}</p>}
      {isAnswered && threadId !== null && runId !== undefined && (
        <Thumbs key={runId} send={(isUp) => sendThumb(client, threadId, runId, isUp)} />
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const message: Message = { type: "human", content: text };
          setText("");
          void stream.submit(
            { messages: [message] },
            {
              streamResumable: true,
              optimisticValues: (before) => ({ ...before, messages: [...(before.messages ?? []), message] }),
            },
          );
        }}
      >
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        <button disabled={stream.isLoading || isWaiting || text === ""}>Send</button>
      </form>
    </>
  );
}

function Thumbs({ send }: { send(isUp: boolean): Promise<void> }) {
  const [result, setResult] = useState<string>();
  const give = (isUp: boolean) =>
    send(isUp).then(
      () => setResult("Thank you."),
      (error: Error) => setResult(error.message),
    );
  if (result !== undefined) return <p role="status">{result}</p>;
  return (
    <p>
      Was this helpful? <button onClick={() => void give(true)}>👍 Yes</button>{" "}
      <button onClick={() => void give(false)}>👎 No</button>
    </p>
  );
}

/** Text of a message's content, which is a string or blocks. */
function textOf(content: Message["content"]): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
