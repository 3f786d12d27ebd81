import type { Assistant } from "@langchain/langgraph-sdk";
import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { Loading } from "../../ui/loading.tsx";
import { Problem } from "../../ui/problem.tsx";
import type { JsonSchema } from "../../ui/schema-form/schema.ts";
import { assistantsQuery, type Run, schemasQuery } from "../threads/queries.ts";
import { findMessagesKey } from "./compose-input.ts";
import { Composer } from "./composer.tsx";
import classes from "./playground.module.css";
import { RunBar } from "./run-bar.tsx";
import { ThreadView } from "./thread-view.tsx";
import { type RunControls, type Send, type Strategy, useRun } from "./use-run.ts";
import { Watcher } from "./watcher.ts";

interface Side {
  assistant: Assistant;
  threadId: string | null;
}

interface SideBySideProps {
  server: string;
  sides: [Side, Side];
  onThread: (side: 0 | 1, threadId: string) => void;
  onAssistant: (side: 0 | 1, assistantId: string) => void;
}

type Input = Record<string, unknown>;
/** Sends an input to one side. */
type Sender = (input: Input, added: Input[]) => void;

/** Two assistants with their own threads, which get the same inputs. */
export function SideBySide({ server, sides, onThread, onAssistant }: SideBySideProps) {
  const { assistant } = sides[0];
  const schemas = useQuery(schemasQuery(server, assistant.assistant_id));
  const [strategy, setStrategy] = useState<Strategy>("enqueue");
  const [running, setRunning] = useState([false, false]);
  const senders = useRef<(Sender | null)[]>([null, null]);
  if (schemas.error) {
    return <Problem error={schemas.error} onRetry={schemas.refetch} title="Could not load the graph" />;
  }
  if (!schemas.data) return <Loading />;
  const inputSchema = (schemas.data.input_schema ?? {}) as JsonSchema;
  return (
    <div className={classes.versus}>
      <div className={classes.sides}>
        {sides.map((side, index) => (
          <Column
            key={index}
            server={server}
            {...side}
            label={index === 0 ? "First assistant" : "Second assistant"}
            strategy={strategy}
            onThread={(id) => onThread(index as 0 | 1, id)}
            onAssistant={(id) => onAssistant(index as 0 | 1, id)}
            onSender={(sender) => (senders.current[index] = sender)}
            onRunning={(isRunning) => setRunning((before) => before.with(index, isRunning))}
          />
        ))}
      </div>
      <Composer
        schema={inputSchema}
        messagesKey={findMessagesKey(inputSchema)}
        isRunning={running.some(Boolean)}
        isWaiting={false}
        strategy={strategy}
        onStrategy={setStrategy}
        onSend={(input, added) => senders.current.forEach((send) => send?.(input, added))}
      />
    </div>
  );
}

interface ColumnProps extends Side {
  server: string;
  label: string;
  strategy: Strategy;
  onThread: (threadId: string) => void;
  onAssistant: (assistantId: string) => void;
  onSender: (sender: Sender) => void;
  onRunning: (isRunning: boolean) => void;
}

function Column({
  server,
  assistant,
  threadId,
  label,
  strategy,
  onThread,
  onAssistant,
  onSender,
  onRunning,
}: ColumnProps) {
  const assistants = useQuery(assistantsQuery(server));
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
    <section className={classes.column} aria-label={label}>
      <Select
        size="xs"
        mb="xs"
        aria-label={`${label}: assistant`}
        allowDeselect={false}
        searchable
        data={(assistants.data ?? [assistant]).map(({ assistant_id: value, name }) => ({
          value,
          label: `${name} · ${value.slice(-6)}`,
        }))}
        value={assistant.assistant_id}
        onChange={(id) => id !== null && id !== assistant.assistant_id && onAssistant(id)}
      />
      <RunBar
        server={server}
        threadId={threadId}
        isAsking={run.thread?.status === "interrupted"}
        run={currentRun(run, watcher.runId)}
        waiting={run.runs.filter(({ status, run_id: id }) => status === "pending" && id !== watcher.runId).toReversed()}
        isRunning={stream.isLoading}
        isDisconnected={run.isDisconnected}
        attempt={1}
        onCancel={(runId) => void run.cancel(runId)}
      />
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
    </section>
  );
}

/** Returns the active run, which its stream reports before the list of runs does, or the last one. */
function currentRun({ runs, stream }: RunControls, activeId: string | null): Run | undefined {
  if (stream.isLoading && activeId !== null) {
    return runs.find(({ run_id: id }) => id === activeId) ?? ({ run_id: activeId, status: "running" } as Run);
  }
  return runs.find(({ status }) => status !== "pending");
}
