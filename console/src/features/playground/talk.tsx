import type { Assistant } from "@langchain/langgraph-sdk";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import type { JsonSchema } from "../../ui/schema-form/schema.ts";
import { type Run, schemasQuery } from "../threads/queries.ts";
import { findMessagesKey } from "./compose-input.ts";
import { RunBar } from "./run-bar.tsx";
import { ThreadView } from "./thread-view.tsx";
import { type RunControls, type Send, type Strategy, useRun } from "./use-run.ts";
import { Watcher } from "./watcher.ts";

type Input = Record<string, unknown>;

/** Sends an input, and shows the messages that it adds at once. */
export type Sender = (input: Input, added: Input[]) => void;

export interface TalkProps {
  server: string;
  assistant: Assistant;
  threadId: string | null;
  strategy: Strategy;
  /** Whether to show the run's status, ids and links. */
  hasBar: boolean;
  onThread: (threadId: string) => void;
  onSender: (sender: Sender) => void;
  onRunning: (isRunning: boolean) => void;
}

/** A conversation with one assistant at the newest state of its thread. The composer is outside. */
export function Talk({ server, assistant, threadId, strategy, hasBar, onThread, onSender, onRunning }: TalkProps) {
  const schemas = useQuery(schemasQuery(server, assistant.assistant_id));
  const [watcher] = useState(() => new Watcher());
  const [problem, setProblem] = useState<Error | null>(null);
  const messagesKey = findMessagesKey((schemas.data?.input_schema ?? {}) as JsonSchema);
  const run = useRun({
    server,
    assistantId: assistant.assistant_id,
    threadId,
    setup: {},
    strategy,
    watcher,
    messagesKey: messagesKey ?? "messages",
    onThread,
    onFailure: setProblem,
  });
  const { stream, states } = run;
  const send = async (request: Omit<Send, "from">, from: Send["from"] = null) => {
    setProblem(null);
    await run.send({ ...request, from });
  };
  const shown = (stream.values as Input | undefined)?.[messagesKey ?? ""] ?? [];
  onSender((input, added) => {
    const optimistic = { [messagesKey ?? ""]: [...(shown as unknown[]), ...added] };
    void send({ input, ...(added.length > 0 && { optimistic }) });
  });
  useEffect(() => onRunning(stream.isLoading), [stream.isLoading]);
  return (
    <>
      {hasBar && (
        <RunBar
          server={server}
          threadId={threadId}
          isAsking={run.thread?.status === "interrupted"}
          run={currentRun(run, watcher.runId)}
          waiting={run.runs
            .filter(({ status, run_id: id }) => status === "pending" && id !== watcher.runId)
            .toReversed()}
          isRunning={stream.isLoading}
          isDisconnected={run.isDisconnected}
          attempt={1}
          onCancel={(runId) => void run.cancel(runId)}
        />
      )}
      <ThreadView
        run={run}
        messagesKey={messagesKey}
        viewed={undefined}
        isViewing={false}
        head={states[0]}
        problem={problem}
        onProblem={setProblem}
        onLatest={() => {}}
        send={send}
      />
    </>
  );
}

/** Returns the active run, which its stream reports before the list of runs does, or the last one. */
function currentRun({ runs, stream }: RunControls, activeId: string | null): Run | undefined {
  if (stream.isLoading && activeId !== null) {
    return runs.find(({ run_id: id }) => id === activeId) ?? ({ run_id: activeId, status: "running" } as Run);
  }
  return runs.find(({ status }) => status !== "pending");
}
