/** `useStream` of @langchain/react over protocol v2: server-sent events, or a WebSocket with `transport=websocket`. */
import { Client } from "@langchain/langgraph-sdk";
import { useStream } from "@langchain/react";
import { useState } from "react";

import { keepThread, page, textOf, toInput } from "../apps/page.ts";
import { show, View } from "../apps/view.tsx";

/** Browsers cannot set headers on a WebSocket, so the library does not open one for a client with a key. */
const webSocket = {
  client: new Client({ apiUrl: page.apiUrl, apiKey: null, callerOptions: { fetch: fetchWithKey } }),
  transport: "websocket",
  fetch: fetchWithKey,
  webSocketFactory: (url: string) => new WebSocket(`${url}?x-api-key=${page.apiKey}`),
};

function fetchWithKey(url: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const headers = new Headers(init?.headers);
  headers.set("x-api-key", page.apiKey!);
  return fetch(url, { ...init, headers });
}

function App() {
  const [threadId, setThreadId] = useState(page.threadId);
  const stream = useStream<{ messages: unknown[] }, { question: string }>({
    ...(page.transport === "websocket" ? webSocket : { apiUrl: page.apiUrl, apiKey: page.apiKey }),
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
