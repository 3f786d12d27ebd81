import { Text } from "@mantine/core";

import { duration, money } from "../../ui/format.ts";
import type { Message } from "../../ui/messages/message.ts";
import type { State } from "../threads/queries.ts";
import { useReplyFacts } from "./reply-facts.ts";
import { RunThumbs } from "./run-thumbs.tsx";
import type { RunControls } from "./use-run.ts";

/** Returns a function that renders a reply's duration and cost, and the thumbs of the last reply of each run. */
export function useReplyStatistics({ stream, states }: Pick<RunControls, "stream" | "states">, messages: Message[]) {
  const origins = messages.map((message, index) => {
    if (message.role !== "assistant") return null;
    const first = stream.getMessagesMetadata(message.raw as never, index)?.firstSeenState as State | undefined;
    return first ? { ...origin(first), latency: latency(first, states) } : null;
  });
  const runIds = [...new Set(origins.flatMap((found) => found?.runId ?? []))];
  const { getCost, getFeedback } = useReplyFacts(runIds);
  return (_message: Message, index: number) => {
    const found = origins[index];
    if (!found) return null;
    const { runId, step, latency: took } = found;
    const cost = runId !== null && step !== null ? getCost(runId, step) : null;
    const isLast = runId !== null && origins.findLastIndex((candidate) => candidate?.runId === runId) === index;
    const feedback = isLast ? getFeedback(runId) : null;
    return (
      <>
        {took !== null && <Statistic title="Duration of the step that wrote this message">{duration(took)}</Statistic>}
        {cost !== null && <Statistic title="Cost of the LLM calls in this step">{money(cost)}</Statistic>}
        {runId !== null && feedback !== null && <RunThumbs runId={runId} feedback={feedback} />}
      </>
    );
  };
}

const Statistic = ({ title, children }: { title: string; children: string }) => (
  <Text size="xs" c="dimmed" className="numbers" title={title} me={4} style={{ whiteSpace: "nowrap" }}>
    {children}
  </Text>
);

function origin({ metadata }: State): { runId: string | null; step: number | null } {
  const { run_id: runId, step } = (metadata ?? {}) as { run_id?: string; step?: number };
  return { runId: runId ?? null, step: step ?? null };
}

/** Returns the milliseconds between the state before a message and the one with it. */
function latency(first: State, states: readonly State[]): number | null {
  const before = first.parent_checkpoint?.checkpoint_id;
  const parent = states.find(({ checkpoint }) => checkpoint?.checkpoint_id === before);
  return first.created_at && parent?.created_at ? Date.parse(first.created_at) - Date.parse(parent.created_at) : null;
}
