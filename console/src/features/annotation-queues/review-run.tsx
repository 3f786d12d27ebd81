import { Group, Stack, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { AnchorLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { RunIcon } from "../runs/run-icon.tsx";
import { type AnyRun } from "../runs/run-record.ts";
import { feedbackQuery } from "../traces/queries.ts";
import { RunError } from "../traces/run-error.tsx";
import { FeedbackList } from "../traces/run-feedback.tsx";
import { RunValue } from "../traces/run-value.tsx";
import { Conversation } from "./conversation.tsx";
import { referenceQuery } from "./queries.ts";

/** What a reviewer reads of a run: its input and output, the reference, and previous judgements. */
export function ReviewRun({
  run,
}: {
  run: AnyRun & { reference_example_id?: string | null; thread_id?: string | null; trace_id?: string | null };
}) {
  const feedback = useQuery(feedbackQuery(run.id));
  const reference = useQuery(referenceQuery(run.reference_example_id));
  return (
    <article aria-label={`Run ${run.name}`}>
      <Group gap={8} mb="sm" wrap="nowrap">
        <RunIcon type={run.run_type} size={18} />
        <Title order={2} size="h5" style={{ overflowWrap: "anywhere", flex: 1 }}>
          {run.name || "Unnamed"}
        </Title>
        <StatusBadge status={run.status} />
        {run.session_id !== undefined && run.status !== "deleted" && (
          <AnchorLink
            to="/projects/$projectId/r/$runId"
            params={{ projectId: run.session_id, runId: run.id }}
            size="sm"
            style={{ whiteSpace: "nowrap" }}
          >
            Open trace
          </AnchorLink>
        )}
      </Group>
      <Stack gap="md">
        {run.error != null && <RunError error={run.error} status={run.status} />}
        {run.thread_id != null && run.session_id !== undefined && (
          <Conversation projectId={run.session_id} threadId={run.thread_id} runId={run.trace_id ?? run.id} />
        )}
        <RunValue key={`in ${run.id}`} title="Input" value={run.inputs} />
        <RunValue key={`out ${run.id}`} title="Output" value={run.outputs} />
        {reference.error && <LoadState query={reference} />}
        {reference.data && <RunValue key={`ref ${run.id}`} title="Reference" value={reference.data.outputs} />}
        {(feedback.data?.length ?? 0) > 0 && (
          <section aria-label="Previous judgements">
            <Title order={2} size="h6" mb={4}>
              Previous judgements
            </Title>
            <FeedbackList feedback={feedback.data!} />
          </section>
        )}
      </Stack>
    </article>
  );
}
