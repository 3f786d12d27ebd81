import { useState } from "react";
import { createRoot } from "react-dom/client";
import type { ComponentType } from "react";

export interface ShownMessage {
  type: string;
  text: string;
}

export interface ViewProps {
  isBusy: boolean;
  messages: ShownMessage[];
  /** Name and arguments of each tool call. */
  toolCalls: string[];
  question: string | undefined;
  error: unknown;
  onSend(text: string): void;
  onAnswer(answer: string): void;
}

/** The page that the checks drive; the library under test provides what it shows. */
export function View({ isBusy, messages, toolCalls, question, error, onSend, onAnswer }: ViewProps) {
  const [text, setText] = useState("");
  return (
    <main>
      <p role="status">{isBusy ? "busy" : "ready"}</p>
      {error != null && <p role="alert">{String((error as Error).message ?? error)}</p>}
      <ol>
        {messages.map((message, index) => (
          <li key={index} data-type={message.type}>
            {message.text}
          </li>
        ))}
      </ol>
      <ul>
        {toolCalls.map((call, index) => (
          <li key={index} data-type="tool-call">
            {call}
          </li>
        ))}
      </ul>
      {question !== undefined && <p id="question">{question}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onSend(text);
          setText("");
        }}
      >
        <input id="text" value={text} onChange={(event) => setText(event.target.value)} />
        <button id="send">Send</button>
      </form>
      <button id="approve" onClick={() => onAnswer("approve")}>
        Approve
      </button>
    </main>
  );
}

export function show(App: ComponentType): void {
  createRoot(document.getElementById("root")!).render(<App />);
}
