/** `useStream` of @langchain/react, over protocol v2. */
import { useStream } from "@langchain/react";
import { useState } from "react";

import { keepThread, page, textOf, toInput } from "../apps/page.ts";
import { show, View } from "../apps/view.tsx";

function App() {
  const [threadId, setThreadId] = useState(page.threadId);
  const stream = useStream<{ messages: unknown[] }, { question: string }>({
    apiUrl: page.apiUrl,
    apiKey: page.apiKey,
    assistantId: page.assistantId,
    threadId,
    onThreadId(id: string) {
      keepThread(id);
      setThreadId(id);
    },
  } as never);
  return (
    <View
      isBusy={stream.isLoading}
      error={stream.error}
      messages={stream.messages.map((message) => ({ type: message.getType(), text: textOf(message.content) }))}
      toolCalls={stream.toolCalls.map((call) => `${call.name} ${JSON.stringify(call.args)}`)}
      question={stream.interrupt?.value?.question}
      onSend={(text) => void stream.submit(toInput(text) as never)}
      onAnswer={(answer) => void stream.respond(answer)}
    />
  );
}

show(App);
