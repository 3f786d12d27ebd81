/** assistant-ui with its LangGraph runtime, wired as its documentation shows. */
import { AssistantRuntimeProvider, InMemoryThreadListAdapter, useAuiState } from "@assistant-ui/react";
import {
  unstable_createLangGraphStream,
  useLangGraphInterruptState,
  useLangGraphRuntime,
  useLangGraphSend,
  useLangGraphSendCommand,
} from "@assistant-ui/react-langgraph";
import { Client } from "@langchain/langgraph-sdk";

import { keepThread, page } from "../apps/page.ts";
import { show, View } from "../apps/view.tsx";

const client = new Client({ apiUrl: page.apiUrl, apiKey: page.apiKey });
const stream = unstable_createLangGraphStream({ client, assistantId: page.assistantId, onDisconnect: "continue" });

/** Reads a thread as its page is opened; a run that is still active is awaited first. */
async function load(threadId: string) {
  const runs = await client.runs.list(threadId, { status: "running" });
  for (const run of runs) await client.runs.join(threadId, run.run_id);
  const state = await client.threads.getState<{ messages?: never[] }>(threadId);
  return { messages: state.values.messages ?? [], interrupts: state.tasks[0]?.interrupts as never };
}

/** Names the server's threads; without it, the runtime does not know the thread of a page that is opened again. */
class ServerThreads extends InMemoryThreadListAdapter {
  override async initialize() {
    const { thread_id: id } = await client.threads.create();
    keepThread(id);
    return { remoteId: id, externalId: id };
  }

  override fetch(threadId: string) {
    return Promise.resolve({ status: "regular" as const, remoteId: threadId, externalId: threadId });
  }
}
const threads = new ServerThreads();

interface Part {
  type: string;
  text?: string;
  toolName?: string;
  args?: unknown;
  result?: unknown;
}

function Chat() {
  const messages = useAuiState((state: { thread: { messages: readonly unknown[] } }) => state.thread.messages) as {
    role: string;
    content: Part[];
  }[];
  const isBusy = useAuiState((state: { thread: { isRunning: boolean } }) => state.thread.isRunning);
  const interrupt = useLangGraphInterruptState();
  const send = useLangGraphSend();
  const command = useLangGraphSendCommand();
  const parts = messages.flatMap(({ role, content }) => content.map((part) => ({ role, part })));
  return (
    <View
      isBusy={isBusy}
      error={undefined}
      messages={parts.flatMap(({ role, part }) => {
        if (part.type === "text") return [{ type: role === "user" ? "human" : "ai", text: part.text ?? "" }];
        return part.type === "tool-call" && part.result !== undefined
          ? [{ type: "tool", text: String(part.result) }]
          : [];
      })}
      toolCalls={parts.flatMap(({ part }) =>
        part.type === "tool-call" ? [`${part.toolName} ${JSON.stringify(part.args)}`] : [],
      )}
      question={(interrupt?.value as { question?: string } | undefined)?.question}
      onSend={(text) => void send([{ type: "human", content: text }], {})}
      onAnswer={(resume) => void command({ resume })}
    />
  );
}

function App() {
  const runtime = useLangGraphRuntime({
    stream,
    load,
    threadId: page.threadId ?? undefined,
    unstable_threadListAdapter: threads,
  });
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <Chat />
    </AssistantRuntimeProvider>
  );
}

show(App);
