import type { Assistant } from "@langchain/langgraph-sdk";
import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { LoadState } from "../../ui/load-state.tsx";
import type { JsonSchema } from "../../ui/schema-form/schema.ts";
import { assistantsQuery, schemasQuery } from "../threads/queries.ts";
import { findMessagesKey } from "./compose-input.ts";
import { Composer } from "./composer.tsx";
import classes from "./playground.module.css";
import { RunBar } from "./run-bar.tsx";
import { ThreadView } from "./thread-view.tsx";
import { useConversation } from "./use-conversation.ts";
import type { Strategy } from "./use-run.ts";

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
  if (!schemas.data) return <LoadState query={schemas} title="Could not load the graph" />;
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

function Column({ label, onAssistant, onSender, onRunning, ...conversation }: ColumnProps) {
  const { server, assistant, threadId } = conversation;
  const assistants = useQuery(assistantsQuery(server));
  const { run, runId, sendInput, view } = useConversation(conversation);
  const { isLoading } = run.stream;
  onSender(sendInput);
  useEffect(() => onRunning(isLoading), [isLoading]);
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
      <RunBar server={server} threadId={threadId} controls={run} activeId={runId} />
      <ThreadView {...view} />
    </section>
  );
}
