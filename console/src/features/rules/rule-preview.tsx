import { Alert, Loader, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { counted, money } from "../../ui/format.ts";
import { type SimpleColumn, SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { type RulePreview, rulePreviewQuery } from "./queries.ts";
import { previewOf, type RuleValues } from "./rule-values.ts";

const COLUMNS: SimpleColumn<RulePreview["sample"][number]>[] = [
  { title: "Run", cell: ({ name }) => name || "Unnamed" },
  {
    title: "Input",
    cell: ({ inputs_preview: text }) => (
      <Text size="xs" truncate title={text ?? undefined}>
        {text ?? "–"}
      </Text>
    ),
  },
  { title: "Started", width: 110, cell: ({ start_time: at }) => <TimeText at={at} /> },
];

/** Shows which older runs match, and what acting on them costs. */
export function RulePreviewView({ values }: { values: RuleValues }) {
  const [openedAt] = useState(Date.now);
  const [settled] = useDebouncedValue(JSON.stringify(previewOf(values, openedAt)), 400);
  const { data, error, isFetching } = useQuery(rulePreviewQuery(JSON.parse(settled) as ReturnType<typeof previewOf>));
  if (error) {
    return (
      <Alert color="danger" title="Could not preview the rule">
        {error.message}
      </Alert>
    );
  }
  return (
    <section aria-label="Preview" aria-busy={isFetching} style={{ minHeight: 40 }}>
      <Text size="sm" role="status">
        {data ? summarize(data, values) : "Counting the runs…"}{" "}
        {isFetching && <Loader size={12} role="img" aria-label="Counting" />}
      </Text>
      {data && data.sample.length > 0 && (
        <SimpleTable
          label="Matching runs"
          minWidth={420}
          columns={COLUMNS}
          rows={data.sample}
          rowKey={({ id }) => id}
        />
      )}
    </section>
  );
}

function summarize(preview: RulePreview, { backfillDays }: RuleValues): string {
  const { runs, threads, estimated_actions: actions, estimated_cost_usd: cost, cost_basis: basis } = preview;
  const found = threads === null ? counted(runs, "run") : `${counted(threads, "thread")} with ${counted(runs, "run")}`;
  const matched = `${found} of the last ${counted(Number(backfillDays), "day")} match.`;
  const acted = ` Applied to them, the rule would act ${counted(actions, "time")}`;
  if (cost === null) return `${matched}${acted}.`;
  const source = basis === "recent" ? "by its recent mean" : "by the prompt's length";
  return `${matched}${acted} and cost about ${money(cost)} (${source}).`;
}
