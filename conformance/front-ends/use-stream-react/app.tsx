/** `useStream` of @langchain/react, over protocol v2. */
import { useStream } from "@langchain/react";
import { useState } from "react";

import { keepThread, page, textOf, toInput } from "../apps/page.ts";
import { show, View } from "../apps/view.tsx";

const isWebSocket = new URLSearchParams(location.search).get("transport") === "websocket";

/** Pages cannot set headers on a WebSocket, so the key is in the query. */
function openSocket(address: string | URL): WebSocket {
  const url = new URL(address);
  url.searchParams.set("x-api-key", page.apiKey!);
  return new WebSocket(url);
}

/** The hook refuses headers beside a WebSocket, so its other requests get the key here. */
const fetchWithKey: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers);
  headers.set("x-api-key", page.apiKey!);
  return fetch(input, { ...init, headers });
};

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
    ...(isWebSocket
      ? {
          transport: "websocket",
          apiKey: undefined,
          webSocketFactory: openSocket,
          callerOptions: { fetch: fetchWithKey },
        }
      : { transport: "sse" }),
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
