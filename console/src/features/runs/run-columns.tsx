import { Badge } from "@mantine/core";

import { Clipped } from "../../ui/clipped.tsx";
import type { Column } from "../../ui/data-table.tsx";
import { duration, money, tokens } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { FeedbackChips } from "./feedback-chips.tsx";
import { RunIcon } from "./run-icon.tsx";
import { modelName, timeToFirstToken, runLatency, readMetadata, type Run, utc, wasStopped } from "./run-record.ts";
import type { RunSort, Tab } from "./run-search.ts";
import { StatusDot } from "./status-dot.tsx";

/** Columns by id, with their labels in the column picker. */
export const RUN_COLUMNS: [id: string, label: string][] = [
  ["name", "Name"],
  ["model", "Model"],
  ["input", "Input"],
  ["output", "Output"],
  ["error", "Error"],
  ["start_time", "Started"],
  ["latency", "Latency"],
  ["first_token", "First token"],
  ["tokens", "Tokens"],
  ["cost", "Cost"],
  ["tags", "Tags"],
  ["metadata", "Metadata"],
  ["feedback", "Feedback"],
  ["thread", "Thread"],
  ["dataset", "Dataset"],
];
export const HIDDEN_BY_DEFAULT = ["error", "first_token", "metadata", "thread", "dataset"];

/** Sort keys of the columns that can be sorted, other than feedback (feedback-sort.tsx). */
export const RUN_SORTS: Record<string, RunSort> = {
  name: "name",
  start_time: "start_time",
  latency: "latency",
  first_token: "first_token",
  tokens: "total_tokens",
  cost: "total_cost",
};

const colorOf = (status: string) => (wasStopped(status) ? "dimmed" : "var(--heddle-danger)");

const firstLine = (error: string | null | undefined): string | null => error?.split("\n", 1)[0] ?? null;

/**
 * @param projectId project for the links
 * @param tab the roots of traces have no model
 */
export function runColumns(projectId: string, tab: Tab): Column<Run>[] {
  const cells: Record<string, Omit<Column<Run>, "id" | "header">> = {
    name: {
      width: "minmax(170px, 1.2fr)",
      cell: ({ id, name, run_type, status, is_provisional_root: isProvisional }) => (
        <>
          <StatusDot status={status} />
          <RunIcon type={run_type} />
          <AnchorLink to="/projects/$projectId/r/$runId" params={{ projectId, runId: id }} size="sm" truncate>
            {name || "Unnamed"}
          </AnchorLink>
          {isProvisional === true && (
            <Badge
              variant="default"
              size="sm"
              tt="none"
              fw={500}
              style={{ flexShrink: 0 }}
              title="The root of this trace has not arrived. This run, its earliest, stands in for it."
            >
              no root
            </Badge>
          )}
        </>
      ),
    },
    model: { width: "minmax(120px, 0.6fr)", cell: (run) => <Clipped text={modelName(run)} /> },
    input: { width: "minmax(140px, 2fr)", cell: ({ inputs_preview: text }) => <Clipped text={text} /> },
    output: {
      width: "minmax(140px, 2fr)",
      cell: ({ outputs_preview: text, status, error }) => (
        <Clipped {...(error ? { text: firstLine(error), c: colorOf(status) } : { text })} />
      ),
    },
    error: {
      width: "minmax(160px, 1fr)",
      cell: ({ status, error }) => <Clipped text={firstLine(error)} c={colorOf(status)} />,
    },
    start_time: { width: "104px", cell: ({ start_time }) => <TimeText at={utc(start_time)} /> },
    latency: { width: "84px", align: "right", cell: (run) => duration(runLatency(run)) },
    first_token: { width: "96px", align: "right", cell: (run) => duration(timeToFirstToken(run)) },
    tokens: {
      width: "70px",
      align: "right",
      cell: ({ total_tokens, prompt_tokens, completion_tokens }) => (
        <span title={`${prompt_tokens ?? 0} in, ${completion_tokens ?? 0} out`}>{tokens(total_tokens)}</span>
      ),
    },
    cost: { width: "80px", align: "right", cell: ({ total_cost }) => money(total_cost) },
    tags: { width: "minmax(100px, 0.7fr)", cell: ({ tags }) => <Tags tags={tags ?? []} /> },
    metadata: {
      width: "minmax(160px, 1fr)",
      cell: (run) => (
        <Clipped
          text={Object.entries(readMetadata(run))
            .map(([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
            .join(", ")}
        />
      ),
    },
    feedback: { width: "minmax(120px, 0.8fr)", cell: ({ feedback_stats: stats }) => <FeedbackChips stats={stats} /> },
    thread: { width: "minmax(120px, 0.6fr)", cell: ({ thread_id: thread }) => <Clipped text={thread} /> },
    dataset: {
      width: "86px",
      cell: ({ in_dataset: isIn, reference_example_id: exampleId }) => (exampleId || isIn ? "yes" : "–"),
    },
  };
  return RUN_COLUMNS.filter(([id]) => id !== "model" || tab !== "traces").map(([id, header]) => ({
    id,
    header,
    ...cells[id]!,
    sortable: RUN_SORTS[id] !== undefined || id === "feedback",
  }));
}

export function Tags({ tags }: { tags: readonly string[] }) {
  return tags.map((tag) => (
    <Badge key={tag} variant="default" size="sm" tt="none" fw={500} style={{ flexShrink: 0 }}>
      {tag}
    </Badge>
  ));
}
