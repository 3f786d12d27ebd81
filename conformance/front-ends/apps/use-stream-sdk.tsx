/** `useStream` of the SDK itself, as agent-chat-ui uses it: runs are rejoined after a reload by `reconnectOnMount`. */
import { useStream } from "@langchain/langgraph-sdk/react";
import type { Message } from "@langchain/langgraph-sdk";
import { useState } from "react";

import { keepThread, page, textOf, toInput } from "./page.ts";
import { show, View } from "./view.tsx";

function App() {
  const [threadId, setThreadId] = useState(page.threadId);
  const stream = useStream<{ messages: Message[] }, { InterruptType: { question: string } }>({
    apiUrl: page.apiUrl,
    apiKey: page.apiKey,
    assistantId: page.assistantId,
    threadId,
    onThreadId(id) {
      keepThread(id);
      setThreadId(id);
    },
    reconnectOnMount: true,
    fetchStateHistory: true,
  });
  return (
    <View
      isBusy={stream.isLoading}
      error={stream.error}
      messages={stream.messages.map(({ type, content }) => ({ type, text: textOf(content) }))}
      toolCalls={stream.messages.flatMap((message) =>
        message.type === "ai"
          ? (message.tool_calls ?? []).map((call) => `${call.name} ${JSON.stringify(call.args)}`)
          : [],
      )}
      question={stream.interrupt?.value?.question}
      onSend={(text) => void stream.submit(toInput(text) as never, { streamResumable: true })}
      onAnswer={(resume) => void stream.submit(undefined, { command: { resume } })}
    />
  );
}

show(App);
