/** CopilotKit's hooks, through its own runtime and @ag-ui/langgraph. */
import {
  CopilotChatConfigurationProvider,
  CopilotKitProvider,
  useAgent,
  useCopilotKit,
  useInterrupt,
} from "@copilotkit/react-core/v2";
import { useEffect, useRef, useState } from "react";

import { keepThread, page, textOf } from "../apps/page.ts";
import { show, View } from "../apps/view.tsx";

const threadId = page.threadId ?? crypto.randomUUID();

interface AgentMessage {
  role: string;
  content?: unknown;
  toolCalls?: { function: { name: string; arguments: string } }[];
}

function Chat() {
  const { agent } = useAgent({ agentId: page.assistantId });
  const { copilotkit } = useCopilotKit();
  const [error, setError] = useState<unknown>();
  const answer = useRef<(value: unknown) => void>(() => {});
  const [question, setQuestion] = useState<string>();
  const asked = useInterrupt({
    renderInChat: false,
    render: ({ event, interrupt, resolve }) => {
      answer.current = resolve;
      const value = (interrupt?.metadata as { value?: unknown } | undefined)?.value ?? event?.value;
      return <Asked value={value ?? interrupt} onQuestion={setQuestion} />;
    },
  });
  useEffect(() => {
    agent.threadId = threadId;
    if (page.threadId) void copilotkit.connectAgent({ agent }).catch(setError);
  }, [agent, copilotkit]);
  const messages = agent.messages as AgentMessage[];
  return (
    <>
      <View
        isBusy={agent.isRunning}
        error={error}
        messages={messages
          .filter(({ content }) => textOf(content) !== "")
          .map(({ role, content }) => ({
            type: role === "user" ? "human" : role === "tool" ? "tool" : "ai",
            text: textOf(content),
          }))}
        toolCalls={messages.flatMap(({ toolCalls }) =>
          (toolCalls ?? []).map((call) => `${call.function.name} ${call.function.arguments}`),
        )}
        question={asked ? question : undefined}
        onSend={(text) => {
          keepThread(threadId);
          agent.addMessage({ id: crypto.randomUUID(), role: "user", content: text });
          void copilotkit.runAgent({ agent }).catch(setError);
        }}
        onAnswer={(value) => answer.current(value)}
      />
      {asked}
    </>
  );
}

function Asked({ value, onQuestion }: { value: unknown; onQuestion: (text: string) => void }) {
  useEffect(() => onQuestion(typeof value === "string" ? value : JSON.stringify(value)), [value, onQuestion]);
  return null;
}

function App() {
  return (
    <CopilotKitProvider runtimeUrl={page.runtimeUrl}>
      <CopilotChatConfigurationProvider agentId={page.assistantId} threadId={threadId}>
        <Chat />
      </CopilotChatConfigurationProvider>
    </CopilotKitProvider>
  );
}

show(App);
