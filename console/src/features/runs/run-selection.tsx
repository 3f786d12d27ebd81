import { Button, CloseButton, Group, Text } from "@mantine/core";
import {
  IconArrowsDiff,
  IconDatabasePlus,
  IconDownload,
  IconListCheck,
  IconMessagePlus,
  IconTrash,
} from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { useConfirm } from "../../ui/confirm.tsx";
import { ButtonLink } from "../../ui/links.tsx";
import { notifyDone, notifyFailure } from "../../ui/notify.ts";
import { saveFile } from "../../ui/save-file.ts";
import type { Run } from "./run-record.ts";
import classes from "./run-selection.module.css";

const AddToDataset = lazy(async () => ({ default: (await import("../traces/add-to-dataset.tsx")).AddToDataset }));
const AddToQueue = lazy(async () => ({
  default: (await import("../annotation-queues/add-to-queue.tsx")).AddToQueue,
}));
const FeedbackOnRuns = lazy(async () => ({ default: (await import("./feedback-on-runs.tsx")).FeedbackOnRuns }));

interface RunSelectionProps {
  projectId: string;
  runs: readonly Run[];
  onClear: () => void;
}

/** What can be done with the selected runs. */
export function RunSelection({ projectId, runs, onClear }: RunSelectionProps) {
  const client = useQueryClient();
  const [open, setOpen] = useState<"dataset" | "queue" | "feedback" | null>(null);
  const { confirm, dialog } = useConfirm();
  const ids = runs.map(({ id }) => id);
  const areTraces = runs.every(({ id, trace_id: trace }) => id === trace);
  const save = useMutation({
    mutationFn: () => exportRuns(projectId, ids),
    onError: notifyFailure("Could not export the runs"),
  });
  const remove = () =>
    confirm({
      title: `Delete ${ids.length === 1 ? "1 trace" : `${ids.length} traces`}?`,
      body: "This permanently deletes them with all their runs and feedback. Examples made of them are kept.",
      action: "Delete",
      async run() {
        const body = { session_id: projectId, trace_ids: ids };
        await data(traceApi.POST("/api/v1/runs/delete", { body }));
        onClear();
        notifyDone(ids.length === 1 ? "Trace deleted" : `${ids.length} traces deleted`);
        for (const key of ["runs", "run-stats", "run-facets", "projects"]) {
          await client.invalidateQueries({ queryKey: [key] });
        }
      },
    });
  const close = () => setOpen(null);
  return (
    <Group className={classes.bar} gap="xs" role="toolbar" aria-label="Selected runs">
      <CloseButton size="sm" aria-label="Clear the selection" onClick={onClear} />
      <Text size="sm" className="numbers" role="status">
        {ids.length} selected
      </Text>
      {ids.length === 2 && (
        <ButtonLink
          size="compact-sm"
          variant="default"
          leftSection={<IconArrowsDiff size={14} aria-hidden />}
          to="/compare"
          search={{ a: ids[0]!, b: ids[1]! }}
        >
          Compare
        </ButtonLink>
      )}
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<IconDatabasePlus size={14} aria-hidden />}
        onClick={() => setOpen("dataset")}
      >
        Add to dataset
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<IconListCheck size={14} aria-hidden />}
        onClick={() => setOpen("queue")}
      >
        Add to queue
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<IconMessagePlus size={14} aria-hidden />}
        onClick={() => setOpen("feedback")}
      >
        Add feedback
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<IconDownload size={14} aria-hidden />}
        loading={save.isPending}
        onClick={() => save.mutate()}
      >
        Export JSONL
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        c="danger"
        leftSection={<IconTrash size={14} aria-hidden />}
        disabled={!areTraces}
        title={areTraces ? undefined : "Only whole traces can be deleted"}
        onClick={remove}
      >
        Delete
      </Button>
      <Suspense>
        {open === "dataset" && <AddToDataset runIds={ids} onClose={close} />}
        {open === "queue" && <AddToQueue runs={{ ids }} onClose={close} />}
        {open === "feedback" && <FeedbackOnRuns projectId={projectId} runs={runs} onClose={close} />}
      </Suspense>
      {dialog}
    </Group>
  );
}

/** Runs in a request: their inputs and outputs may be large. */
const BATCH = 50;

/** Downloads the runs with inputs and outputs, a line each. */
async function exportRuns(projectId: string, ids: readonly string[]): Promise<void> {
  const lines: string[] = [];
  for (let at = 0; at < ids.length; at += BATCH) {
    const id = ids.slice(at, at + BATCH);
    const body = { session: projectId, id, limit: id.length };
    const { runs } = await data(traceApi.POST("/api/v1/runs/query", { body }));
    lines.push(...runs.map((run) => `${JSON.stringify(run)}\n`));
  }
  saveFile(new Blob(lines, { type: "application/jsonl" }), "runs.jsonl");
}
