import { Button, Group, Select, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { count } from "../../ui/format.ts";
import { notifyFailure } from "../../ui/notify.ts";
import { pairEvaluatorsQuery, pairJudgesQuery } from "./queries.ts";

const STATUS = {
  queued: "queued",
  running: "running",
  completed: "completed",
  cancelled: "cancelled",
  failed: "failed",
};

/** Lets an evaluator judge all pairs in the background, and shows how far the last one is. Absent without evaluators. */
export function JudgePairs({ comparisonId }: { comparisonId: string }) {
  const client = useQueryClient();
  const evaluators = useQuery(pairEvaluatorsQuery);
  const jobs = useQuery(pairJudgesQuery(comparisonId));
  const [chosen, setChosen] = useState<string | null>(null);
  const params = { path: { comparative_experiment_id: comparisonId } };
  const refresh = async () => {
    await client.invalidateQueries({ queryKey: ["pair-judges", comparisonId] });
    await client.invalidateQueries({ queryKey: ["pair-results", comparisonId] });
  };
  const start = useMutation({
    mutationFn: (evaluatorId: string) =>
      data(
        traceApi.POST("/api/v1/datasets/comparative/{comparative_experiment_id}/judges", {
          params,
          body: { evaluator_id: evaluatorId },
        }),
      ),
    onSuccess: refresh,
    onError: notifyFailure("Could not start the evaluator"),
  });
  const cancel = useMutation({
    mutationFn: () => traceApi.DELETE("/api/v1/datasets/comparative/{comparative_experiment_id}/judges", { params }),
    onSuccess: refresh,
    onError: notifyFailure("Could not cancel the evaluator"),
  });
  const [job] = jobs.data ?? [];
  const isOpen = job?.status === "queued" || job?.status === "running";
  if ((evaluators.data?.length ?? 0) === 0 && !job) return null;
  return (
    <Group gap="xs" align="center">
      <Select
        size="xs"
        w={260}
        aria-label="Evaluator of pairs"
        placeholder="Evaluator of pairs"
        data={(evaluators.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        value={chosen}
        onChange={setChosen}
      />
      <Button
        size="xs"
        variant="default"
        disabled={chosen === null || isOpen}
        loading={start.isPending}
        onClick={() => chosen !== null && start.mutate(chosen)}
      >
        Judge all pairs
      </Button>
      {job && (
        <Text size="xs" role="status" className="numbers">
          {STATUS[job.status]}: {count(job.judged)} of {count(job.total)}
          {job.failed > 0 && `, ${count(job.failed)} failed`}
          {job.error !== null && `. ${job.error}`}
        </Text>
      )}
      {isOpen && (
        <Button size="compact-xs" variant="subtle" loading={cancel.isPending} onClick={() => cancel.mutate()}>
          Cancel
        </Button>
      )}
    </Group>
  );
}
