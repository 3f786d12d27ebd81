import { Button, Select, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { KNOWN_OR_NEW, KnownOrNewFields } from "../../ui/known-or-new.tsx";
import { notifyDone } from "../../ui/notify.ts";
import { ExamplePreview } from "./example-preview.tsx";
import { MappingEditor } from "./mapping-editor.tsx";
import { datasetChoicesQuery } from "./queries.ts";
import { type FromRunsAnswer, type MappingRow, toMapping, toRows, WHOLE_RUN } from "./run-mapping.ts";

interface AddToDatasetProps {
  runIds: readonly string[];
  onClose: () => void;
}

/** Runs per request. */
const BATCH = 1000;

/** Form that makes examples of runs by a mapping, which the dataset remembers; runs that it has are not added again. */
export function AddToDataset({ runIds, onClose }: AddToDatasetProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const form = useForm({ initialValues: { ...KNOWN_OR_NEW, split: "", onDuplicate: "skip" } });
  const [edited, setEdited] = useState<MappingRow[] | null>(null);
  const [isOpen, setOpen] = useState(false);
  const isKnown = form.values.mode === "known";
  const knownId = isKnown ? form.values.knownId : null;
  const datasets = useQuery(datasetChoicesQuery);
  const remembered = useQuery({
    queryKey: ["dataset", knownId, "run-mapping"],
    queryFn: ({ signal }) =>
      data(
        traceApi.GET("/api/v1/datasets/{dataset_id}/run-mapping", {
          params: { path: { dataset_id: knownId! } },
          signal,
        }),
      ),
    enabled: knownId !== null,
  });
  const rows = edited ?? (remembered.data ? toRows(remembered.data.mapping) : WHOLE_RUN);
  const mapping = toMapping(rows);
  const add = async ({ name, split, onDuplicate }: typeof form.values) => {
    const id = knownId ?? (await data(traceApi.POST("/api/v1/datasets", { body: { name: name.trim() } }))).id;
    const params = { path: { dataset_id: id } };
    const sum = { added: 0, replaced: 0, skipped: 0, failed: 0, results: [] as FromRunsAnswer["results"] };
    for (let at = 0; at < runIds.length; at += BATCH) {
      const body = {
        run_ids: runIds.slice(at, at + BATCH),
        mapping,
        on_duplicate: onDuplicate as "skip",
        remember_mapping: edited !== null,
        dry_run: false,
        ...(split.trim() !== "" && { split: split.trim() }),
      };
      const path = "/api/v1/datasets/{dataset_id}/examples-from-runs" as const;
      const answer = await data(traceApi.POST(path, { params, body }));
      for (const key of ["added", "replaced", "skipped", "failed"] as const) sum[key] += answer[key];
      sum.results.push(...answer.results.filter((result) => result.outcome === "failed"));
    }
    await Promise.all([
      client.invalidateQueries({ queryKey: ["datasets"] }),
      client.invalidateQueries({ queryKey: ["dataset", id] }),
      ...runIds.slice(0, BATCH).map((runId) => client.invalidateQueries({ queryKey: ["run", runId] })),
    ]);
    if (sum.failed > 0) {
      throw new Error(
        `${summary(sum)}. ${sum.failed} could not be added: ${sum.results[0]!.error ?? "unknown reason"}`,
      );
    }
    onClose();
    notifyDone(summary(sum));
    await navigate({ to: "/datasets/$datasetId", params: { datasetId: id } });
  };
  return (
    <FormModal
      title="Add to dataset"
      action="Add"
      size={isOpen ? "lg" : "md"}
      failure="Could not add the example"
      form={form}
      isReady={isKnown ? form.values.knownId !== null : form.values.name.trim() !== ""}
      onSubmit={add}
      onClose={onClose}
    >
      <KnownOrNewFields form={form} noun="dataset" choices={datasets} isKnown={isKnown} />
      <TextInput label="Split" placeholder="base" {...form.getInputProps("split")} />
      <Select
        label="Runs that the dataset has, or whose inputs it has"
        allowDeselect={false}
        data={[
          { value: "skip", label: "Skip" },
          { value: "replace", label: "Replace the example" },
          { value: "add", label: "Add again" },
        ]}
        {...form.getInputProps("onDuplicate")}
      />
      <Text size="xs" c="dimmed">
        {mapping === null
          ? runIds.length === 1
            ? "The run's input becomes the example's input; its output, the reference output."
            : `Each of the ${runIds.length} runs becomes an example: its input, the example's input; its output, the reference output.`
          : "The fields of the example are taken from the run as the mapping says."}
      </Text>
      <Button
        size="compact-xs"
        variant="subtle"
        style={{ alignSelf: "flex-start" }}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? "Hide mapping and preview" : "Edit mapping and preview"}
      </Button>
      {isOpen && <MappingEditor rows={rows} onChange={setEdited} />}
      {isOpen && knownId !== null && <ExamplePreview datasetId={knownId} runId={runIds[0]!} mapping={mapping} />}
    </FormModal>
  );
}

function summary({ added, replaced, skipped }: Pick<FromRunsAnswer, "added" | "replaced" | "skipped">): string {
  const parts = [
    added === 1 ? "Example added" : `${added} examples added`,
    ...(replaced > 0 ? [`${replaced} replaced`] : []),
    ...(skipped > 0 ? [`${skipped} skipped, which the dataset has`] : []),
  ];
  return parts.join(", ");
}
