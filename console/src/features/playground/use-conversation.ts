import type { Assistant } from "@langchain/langgraph-sdk";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { JsonSchema } from "../../ui/schema-form/schema.ts";
import { schemasQuery } from "../threads/queries.ts";
import { findMessagesKey } from "./compose-input.ts";
import { type Send, type Strategy, useRun } from "./use-run.ts";
import { Watcher } from "./watcher.ts";

interface ConversationOptions {
  server: string;
  assistant: Assistant;
  threadId: string | null;
  strategy: Strategy;
  onThread: (threadId: string) => void;
}

type Values = Record<string, unknown>;

/** The conversation with an assistant on a thread, at the end of the branch that is shown, without options of its runs. */
export function useConversation({ server, assistant, threadId, strategy, onThread }: ConversationOptions) {
  const schemas = useQuery(schemasQuery(server, assistant.assistant_id));
  const [watcher] = useState(() => new Watcher());
  const [problem, setProblem] = useState<Error | null>(null);
  const schema = (schemas.data?.input_schema ?? {}) as JsonSchema;
  const messagesKey = findMessagesKey(schema);
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
  const head = stream.history.at(-1);
  const send = async (request: Omit<Send, "from">, from: Send["from"] = null) => {
    setProblem(null);
    await run.send({ ...request, from });
  };
  /** @param added messages to show until the server has responded */
  const sendInput = (input: Values, added: Values[]) => {
    const shown = ((stream.values as Values | undefined)?.[messagesKey ?? ""] ?? []) as unknown[];
    const from = head?.checkpoint ?? null;
    const isNewest = from?.checkpoint_id === states[0]?.checkpoint?.checkpoint_id;
    const optimistic = added.length > 0 ? { optimistic: { [messagesKey!]: [...shown, ...added] } } : {};
    void send({ input, ...optimistic }, isNewest ? null : from);
  };
  const view = { run, messagesKey, viewed: undefined, isViewing: false, head, problem, send };
  return {
    schemas,
    schema,
    run,
    runId: watcher.runId,
    sendInput,
    view: { ...view, onProblem: setProblem, onLatest() {} },
  };
}
