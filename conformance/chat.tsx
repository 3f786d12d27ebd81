import { useStream } from "langgraph-sdk-v1/react";
import type { Message } from "langgraph-sdk-v1";
import { useState } from "react";

interface State extends Record<string, unknown> {
  messages: Message[];
  log: string[];
  answer?: string;
}

export interface ChatProps {
  apiUrl: string;
  assistantId: string;
  threadId?: string;
  onThreadId?: (threadId: string) => void;
  /** Called with the text of the newest message each time it changes. */
  onText?: (text: string) => void;
}

/** A typical application of the hook: messages, an input, a question to answer, branches to choose. */
export function Chat({ apiUrl, assistantId, threadId: given, onThreadId, onText }: ChatProps) {
  const [threadId, setThreadId] = useState<string | null>(given ?? null);
  const stream = useStream<State, { InterruptType: { question: string } }>({
    apiUrl,
    apiKey: null as never,
    assistantId,
    threadId,
    onThreadId: (id) => {
      setThreadId(id);
      onThreadId?.(id);
    },
    fetchStateHistory: true,
  });
  const say = (content: string, options?: Parameters<typeof stream.submit>[1]) =>
    stream.submit({ messages: [{ type: "human", content }] }, { streamMode: ["values"], ...options });
  onText?.(String(stream.messages.at(-1)?.content ?? ""));

  return (
    <main>
      <p role="status">{stream.isLoading ? "busy" : "ready"}</p>
      {stream.error !== undefined && <p role="alert">{String(stream.error)}</p>}
      <ol>
        {stream.messages.map((message, index) => {
          const metadata = stream.getMessagesMetadata(message);
          const parent = metadata?.firstSeenState?.parent_checkpoint;
          return (
            <li key={message.id ?? index} data-type={message.type}>
              <span data-testid="text">{String(message.content)}</span>
              {message.type === "human" && (
                <button onClick={() => say(`${message.content}, edited`, { checkpoint: parent })}>edit {index}</button>
              )}
              {metadata?.branchOptions?.map((branch) => (
                <button key={branch} aria-pressed={branch === metadata.branch} onClick={() => stream.setBranch(branch)}>
                  branch
                </button>
              ))}
            </li>
          );
        })}
      </ol>
      {stream.interrupt && <p data-testid="question">{stream.interrupt.value?.question}</p>}
      <pre>{(stream.values.log ?? []).join(" ")}</pre>
      <button onClick={() => say("hello there")}>hello</button>
      <button onClick={() => say("weather in Rome")}>weather</button>
      <button onClick={() => say("slowly please", { config: { configurable: { delay: 300 } } })}>slow</button>
      <button onClick={() => stream.submit({ topic: "news" } as Partial<State>)}>start</button>
      <button onClick={() => stream.submit(undefined, { command: { resume: "yes" } })}>yes</button>
      <button onClick={() => void stream.stop()}>stop</button>
    </main>
  );
}
