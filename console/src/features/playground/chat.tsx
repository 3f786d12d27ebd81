import type { Assistant } from "@langchain/langgraph-sdk";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";

import { Loading } from "../../ui/loading.tsx";
import { Problem } from "../../ui/problem.tsx";
import type { JsonSchema } from "../../ui/schema-form/schema.ts";
import { schemasQuery } from "../threads/queries.ts";
import { findMessagesKey } from "./compose-input.ts";
import { Composer } from "./composer.tsx";
import classes from "./playground.module.css";
import { type Sender, Talk } from "./talk.tsx";

interface ChatProps {
  server: string;
  assistant: Assistant;
  threadId: string | null;
  onThread: (threadId: string) => void;
}

/** A conversation and its composer, without the tools of the playground. Input during a run waits for its end. */
export function Chat({ server, assistant, threadId, onThread }: ChatProps) {
  const schemas = useQuery(schemasQuery(server, assistant.assistant_id));
  const [isRunning, setRunning] = useState(false);
  const sender = useRef<Sender | null>(null);
  if (schemas.error && !schemas.data)
    return <Problem error={schemas.error} onRetry={schemas.refetch} title="Could not load the graph" />;
  if (!schemas.data) return <Loading />;
  const inputSchema = (schemas.data.input_schema ?? {}) as JsonSchema;
  return (
    <section className={classes.chat} aria-label="Conversation and input">
      <Talk
        server={server}
        assistant={assistant}
        threadId={threadId}
        strategy="enqueue"
        hasBar={false}
        onThread={onThread}
        onSender={(send) => (sender.current = send)}
        onRunning={setRunning}
      />
      <Composer
        schema={inputSchema}
        messagesKey={findMessagesKey(inputSchema)}
        isPlain
        isRunning={isRunning}
        isWaiting={false}
        strategy="enqueue"
        onStrategy={() => {}}
        onSend={(input, added) => sender.current?.(input, added)}
      />
    </section>
  );
}
