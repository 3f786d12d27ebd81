import { Code, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import { Clipped } from "../../ui/clipped.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { count, money, seconds, tokens } from "../../ui/format.ts";
import { LoadedList } from "../../ui/load-state.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { FeedbackChips } from "./feedback-chips.tsx";
import { utc } from "./run-record.ts";
import { FeedbackSort, feedbackSort, scoredKeys } from "./feedback-sort.tsx";
import type { RunSearch, RunSort } from "./run-search.ts";
import { LIVE_MS, type Thread, threadSort, threadsQuery } from "./queries.ts";

/** A UUID by its tail: those made at about the same time begin alike. */
function ThreadName({ id }: { id: string }) {
  const isUuid = /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(id);
  return (
    <Text size="sm" truncate title={id} ff={isUuid ? "monospace" : undefined}>
      {isUuid ? id.slice(-12) : id}
    </Text>
  );
}

const COLUMNS: Column<Thread>[] = [
  { id: "thread", header: "Thread", width: "minmax(120px, 1fr)", cell: ({ thread_id: id }) => <ThreadName id={id} /> },
  { id: "turns", header: "Turns", width: "64px", align: "right", cell: (thread) => count(thread.count) },
  {
    id: "first",
    header: "First input",
    width: "minmax(120px, 2fr)",
    cell: (thread) => <Clipped text={thread.first_inputs} />,
  },
  {
    id: "last",
    header: "Last output",
    width: "minmax(120px, 2fr)",
    cell: ({ last_error: error, last_outputs: outputs }) =>
      error ? <Clipped text={error} c="var(--heddle-danger)" /> : <Clipped text={outputs} />,
  },
  { id: "began", header: "Started", width: "96px", cell: (thread) => <TimeText at={utc(thread.min_start_time)} /> },
  {
    id: "latest",
    header: "Last active",
    width: "96px",
    sortable: true,
    cell: (thread) => <TimeText at={utc(thread.max_start_time)} />,
  },
  {
    id: "p50",
    header: "P50",
    width: "88px",
    align: "right",
    sortable: true,
    cell: (thread) => seconds(thread.latency_p50),
  },
  {
    id: "tokens",
    header: "Tokens",
    width: "84px",
    align: "right",
    sortable: true,
    cell: (thread) => tokens(thread.total_tokens),
  },
  {
    id: "cost",
    header: "Cost",
    width: "84px",
    align: "right",
    sortable: true,
    cell: (thread) => money(thread.total_cost),
  },
  {
    id: "feedback",
    header: "Feedback",
    width: "minmax(96px, 1fr)",
    sortable: true,
    cell: (thread) => <FeedbackChips stats={thread.feedback_stats} />,
  },
];

const SORT_OF_COLUMN: Record<string, RunSort> = {
  latest: "start_time",
  p50: "latency",
  tokens: "total_tokens",
  cost: "total_cost",
};
const COLUMN_OF_SORT = Object.fromEntries(Object.entries(SORT_OF_COLUMN).map(([column, sort]) => [sort, column]));

interface ThreadsTableProps {
  projectId: string;
  search: RunSearch;
  onChange: (changes: Partial<RunSearch>) => void;
}

/** Conversations: traces with the same thread in their metadata. A row replays its turns. */
export function ThreadsTable({ projectId, search, onChange }: ThreadsTableProps) {
  const found = useInfiniteQuery({
    ...threadsQuery(projectId, search),
    refetchInterval: search.live ? LIVE_MS * 3 : false,
  });
  const threads = useMemo(() => found.data?.pages.flatMap(({ groups }) => groups) ?? [], [found.data]);
  const scored = scoredKeys(threads);
  const sort = threadSort(search.sort);
  return (
    <LoadedList
      query={found}
      rows={12}
      list={threads}
      empty={
        <Empty title="No threads in this time range">
          <Text size="sm" maw={560}>
            To group traces into a thread, set <Code>thread_id</Code>, <Code>session_id</Code> or{" "}
            <Code>conversation_id</Code> in their metadata.
          </Text>
        </Empty>
      }
    >
      <FeedbackSort search={search} keys={scored} onChange={onChange} />
      <DataTable
        label="Threads"
        sort={{ id: sort.startsWith("feedback:") ? "feedback" : COLUMN_OF_SORT[sort]!, desc: search.desc }}
        onSort={({ id, desc }) => {
          const next = id === "feedback" ? feedbackSort(search.sort, scored) : SORT_OF_COLUMN[id];
          if (next !== undefined) onChange({ sort: next, desc });
        }}
        columns={COLUMNS}
        rows={threads}
        rowKey={({ thread_id: id }) => id}
        onOpen={({ thread_id: id }) => onChange({ tab: "threads", thread: id })}
        pages={found}
        maxHeight="max(320px, calc(100dvh - 290px))"
      />
    </LoadedList>
  );
}
