import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { Empty } from "../../ui/empty.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { feedbackQuery, type GivenFeedback, runsQuery } from "./queries.ts";
import { TraceLink } from "./trace-link.tsx";

/** Number of the thread's newest runs whose feedback is shown; traces have their runs' ids. */
const RUNS = 100;

export function ThreadFeedback({ server, threadId }: { server: string; threadId: string }) {
  const runs = useQuery(runsQuery(server, threadId, RUNS));
  const ids = (runs.data ?? []).map(({ run_id: id }) => id);
  const feedback = useQuery(feedbackQuery(ids));
  if (!runs.data || (ids.length > 0 && !feedback.data)) return <LoadState query={[runs, feedback]} />;
  if (!feedback.data || feedback.data.length === 0) {
    return <Empty title="No feedback yet">Add feedback on a run's trace, or send it from your application.</Empty>;
  }
  return (
    <SimpleTable<GivenFeedback>
      label="Feedback"
      rows={feedback.data}
      rowKey={(entry) => entry.id}
      columns={[
        { title: "Key", width: 160, cell: ({ key }) => <Text size="sm">{key}</Text> },
        { title: "Score", width: 120, cell: ({ score, value }) => <Text size="sm">{shown(score ?? value)}</Text> },
        { title: "Comment", cell: ({ comment }) => <Text size="sm">{comment ?? "–"}</Text> },
        { title: "Created", width: 110, cell: ({ created_at: at }) => <TimeText at={at} /> },
        {
          title: "Run",
          width: 140,
          cell: ({ run_id: id }) => (id ? <TraceLink runId={id} label={`run ${id.slice(-8)}`} /> : "–"),
        },
      ]}
    />
  );
}

const shown = (value: unknown): string =>
  value === null || value === undefined ? "–" : typeof value === "string" ? value : JSON.stringify(value);
