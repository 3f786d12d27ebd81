import { Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";

import { data, traceApi } from "../../api/clients.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { counted } from "../../ui/format.ts";
import { KNOWN_OR_NEW, KnownOrNewFields } from "../../ui/known-or-new.tsx";
import { notifyDone } from "../../ui/notify.ts";
import { selectionOf } from "../runs/queries.ts";
import type { RunSearch } from "../runs/run-search.ts";
import { queueChoicesQuery } from "./queries.ts";

interface AddToQueueProps {
  /** Runs by id, or all that a list matches. */
  runs: { ids: readonly string[] } | { projectId: string; search: RunSearch };
  onClose: () => void;
}

/** Form that adds runs to a known or a new annotation queue. */
export function AddToQueue({ runs, onClose }: AddToQueueProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const queues = useQuery(queueChoicesQuery);
  const hasNone = queues.data?.length === 0;
  const form = useForm({ initialValues: KNOWN_OR_NEW });
  const isKnown = form.values.mode === "known" && !hasNone;
  const add = async ({ knownId: known, name }: typeof form.values) => {
    const queueId = isKnown
      ? known!
      : (await data(traceApi.POST("/api/v1/annotation-queues", { body: { name: name.trim() } }))).id;
    const added = await addRuns(queueId, runs);
    onClose();
    notifyDone(`${counted(added, "run")} added to the queue`);
    await client.invalidateQueries({ queryKey: ["annotation-queues"] });
    await client.invalidateQueries({ queryKey: ["annotation-queue", queueId] });
    await navigate({ to: "/annotation-queues/$queueId", params: { queueId } });
  };
  return (
    <FormModal
      title="Add to queue"
      action="Add"
      size="md"
      failure="Could not add the runs"
      form={form}
      isReady={isKnown ? form.values.knownId !== null : form.values.name.trim() !== ""}
      onSubmit={add}
      onClose={onClose}
    >
      <KnownOrNewFields
        form={form}
        noun="queue"
        choices={queues}
        isKnown={isKnown}
        isNewOnly={hasNone}
        maxLength={512}
      />
      {"search" in runs && (
        <Text size="xs" c="dimmed">
          All runs that match the list's filters and time range are added, oldest first.
        </Text>
      )}
    </FormModal>
  );
}

/** @returns the number of runs, those that the queue had already included for runs by id */
async function addRuns(queueId: string, runs: AddToQueueProps["runs"]): Promise<number> {
  if ("ids" in runs) {
    const params = { path: { queue_id: queueId } };
    const body = [...runs.ids];
    return (await data(traceApi.POST("/api/v1/annotation-queues/{queue_id}/runs", { params, body }))).length;
  }
  const { session, ...selection } = selectionOf(runs.projectId, runs.search);
  const body = { ...selection, queue_id: queueId, session_ids: [session as string] };
  return (await data(traceApi.POST("/api/v1/annotation-queues/populate", { body }))).added;
}
