/** `useChat` of the AI SDK with the transport of @ai-sdk/langchain, which drives RemoteGraph in the page. */
import { LangSmithDeploymentTransport, toBaseMessages, toUIMessageStream } from "@ai-sdk/langchain";
import { useChat } from "@ai-sdk/react";
import { Command } from "@langchain/langgraph";
import { Client } from "@langchain/langgraph-sdk";
import type { UIMessage } from "ai";
import { useEffect, useState } from "react";

import { keepThread, page, textOf, toInput } from "../apps/page.ts";
import { show, View } from "../apps/view.tsx";

const client = new Client({ apiUrl: page.apiUrl, apiKey: page.apiKey });
const STREAM_MODE = ["values", "messages"] as const;

type Sending = Parameters<LangSmithDeploymentTransport<UIMessage>["sendMessages"]>[0];

/** The transport with a thread, as applications extend it: it sends the last message, or an answer. */
class ThreadTransport extends LangSmithDeploymentTransport<UIMessage> {
  answer: string | undefined;

  async sendMessages({ messages, abortSignal }: Sending) {
    const thread = page.threadId ?? (await client.threads.create()).thread_id;
    page.threadId = thread;
    keepThread(thread);
    const config = { configurable: { thread_id: thread }, streamMode: [...STREAM_MODE], signal: abortSignal };
    const [last] = await toBaseMessages(messages.slice(-1));
    const input = page.assistantId === "approval" ? toInput(last?.text ?? "") : { messages: [last] };
    const given = this.answer === undefined ? input : new Command({ resume: this.answer });
    this.answer = undefined;
    return toUIMessageStream((await this.graph.stream(given as never, config as never)) as never);
  }

  async reconnectToStream() {
    if (!page.threadId) return null;
    const [run] = await client.runs.list(page.threadId, { status: "running" });
    return run ? toUIMessageStream(joined(page.threadId, run.run_id) as never) : null;
  }
}

/** Yields a run's frames in the form of `graph.stream` with several modes. */
function joined(threadId: string, runId: string): ReadableStream<[string, unknown]> {
  const frames = client.runs.joinStream(threadId, runId, { streamMode: ["values", "messages-tuple"] });
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await frames.next();
      if (done) controller.close();
      else if (value.event === "values" || value.event === "messages") controller.enqueue([value.event, value.data]);
    },
  });
}

const transport = new ThreadTransport({ url: page.apiUrl, apiKey: page.apiKey, graphId: page.assistantId });

interface Loaded {
  messages: UIMessage[];
  isActive: boolean;
}

async function load(): Promise<Loaded> {
  if (!page.threadId) return { messages: [], isActive: false };
  const state = await client.threads.getState<{ messages?: { type: string; content: unknown; id: string }[] }>(
    page.threadId,
  );
  const active = await client.runs.list(page.threadId, { status: "running" });
  const messages = (state.values.messages ?? []).filter(({ type }) => type === "human" || type === "ai");
  return {
    isActive: active.length > 0,
    messages: messages.map(({ type, content, id }) => ({
      id,
      role: type === "human" ? "user" : "assistant",
      parts: [{ type: "text", text: textOf(content) }],
    })),
  };
}

interface Part {
  type: string;
  text?: string;
  toolName?: string;
  input?: unknown;
  output?: unknown;
}

function Chat({ loaded }: { loaded: Loaded }) {
  const chat = useChat({ transport, messages: loaded.messages, resume: loaded.isActive });
  const [question, setQuestion] = useState<string>();
  useEffect(() => {
    // RemoteGraph ends an interrupted stream with an error
    if (!["ready", "error"].includes(chat.status) || !page.threadId) return;
    void client.threads.getState(page.threadId).then(({ tasks }) => {
      setQuestion((tasks[0]?.interrupts[0]?.value as { question?: string } | undefined)?.question);
    });
  }, [chat.status]);
  const parts = chat.messages.flatMap(({ role, parts: own }) => (own as Part[]).map((part) => ({ role, part })));
  const tools = parts.filter(({ part }) => part.type === "dynamic-tool" || part.type.startsWith("tool-"));
  return (
    <View
      isBusy={chat.status === "submitted" || chat.status === "streaming"}
      error={chat.error}
      messages={parts.flatMap(({ role, part }) => {
        if (part.type === "text") return [{ type: role === "user" ? "human" : "ai", text: part.text ?? "" }];
        return part.output === undefined ? [] : [{ type: "tool", text: JSON.stringify(part.output) }];
      })}
      toolCalls={tools.map(({ part }) => `${part.toolName ?? part.type.slice(5)} ${JSON.stringify(part.input)}`)}
      question={question}
      onSend={(text) => void chat.sendMessage({ text })}
      onAnswer={(answer) => {
        transport.answer = answer;
        void chat.sendMessage();
      }}
    />
  );
}

function App() {
  const [loaded, setLoaded] = useState<Loaded>();
  useEffect(() => void load().then(setLoaded), []);
  return loaded ? <Chat loaded={loaded} /> : null;
}

show(App);
