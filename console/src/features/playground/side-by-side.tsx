import type { Assistant } from "@langchain/langgraph-sdk";
import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";

import { Loading } from "../../ui/loading.tsx";
import { Problem } from "../../ui/problem.tsx";
import type { JsonSchema } from "../../ui/schema-form/schema.ts";
import { assistantsQuery, schemasQuery } from "../threads/queries.ts";
import { findMessagesKey } from "./compose-input.ts";
import { Composer } from "./composer.tsx";
import classes from "./playground.module.css";
import { type Sender, Talk, type TalkProps } from "./talk.tsx";
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

/** Two assistants with their own threads, which get the same inputs. */
export function SideBySide({ server, sides, onThread, onAssistant }: SideBySideProps) {
  const { assistant } = sides[0];
  const schemas = useQuery(schemasQuery(server, assistant.assistant_id));
  const [strategy, setStrategy] = useState<Strategy>("enqueue");
  const [running, setRunning] = useState([false, false]);
  const senders = useRef<(Sender | null)[]>([null, null]);
  if (schemas.error && !schemas.data) {
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

interface ColumnProps extends Omit<TalkProps, "hasBar"> {
  label: string;
  onAssistant: (assistantId: string) => void;
}

function Column({ label, onAssistant, ...talk }: ColumnProps) {
  const { server, assistant } = talk;
  const assistants = useQuery(assistantsQuery(server));
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
      <Talk {...talk} hasBar />
    </section>
  );
}
