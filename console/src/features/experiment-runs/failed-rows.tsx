import { Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { AnchorLink } from "../../ui/links.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { failedRowsQuery, type Job, type JobRow } from "./queries.ts";

/** Runs that failed, and those that an evaluator failed to judge, with their errors. */
export function FailedRows({ job }: { job: Job }) {
  const { failed, judge_failures: unjudged } = job.progress;
  const failures = useQuery(failedRowsQuery(job.id, "failed", failed));
  const judgements = useQuery(failedRowsQuery(job.id, "unjudged", unjudged));
  const rows = [...(failed > 0 ? (failures.data ?? []) : []), ...(unjudged > 0 ? (judgements.data ?? []) : [])];
  if (rows.length === 0) return null;
  return (
    <section aria-label="Failures">
      <Title order={2} size="h6" mb={4}>
        Failures
      </Title>
      <SimpleTable
        label="Failures"
        minWidth={560}
        columns={[
          {
            title: "Run",
            width: 160,
            cell: ({ run_id: run, repetition, index }) =>
              run === null ? (
                `Row ${index + 1}`
              ) : (
                <AnchorLink to="/projects/$projectId/r/$runId" params={{ projectId: job.id, runId: run }} size="sm">
                  Row {index + 1}, repetition {repetition}
                </AnchorLink>
              ),
          },
          {
            title: "Error",
            cell: (row) => (
              <Text size="sm" lineClamp={3} style={{ overflowWrap: "anywhere" }}>
                {errorOf(row)}
              </Text>
            ),
          },
        ]}
        rows={rows}
        rowKey={({ index }) => String(index)}
      />
    </section>
  );
}

const errorOf = ({ error, judge_errors: judges }: JobRow): string =>
  error ?? (judges ?? []).map(({ evaluator, error: text }) => `${evaluator}: ${text}`).join("; ");
