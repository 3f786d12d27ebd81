import { Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";

import { data, traceApi } from "../../api/clients.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { KNOWN_OR_NEW, KnownOrNewFields } from "../../ui/known-or-new.tsx";
import { notifyDone } from "../../ui/notify.ts";
import { datasetChoicesQuery } from "./queries.ts";

interface AddToDatasetProps {
  runIds: readonly string[];
  onClose: () => void;
}

/** Form that copies the inputs and outputs of runs to new examples of a dataset, with references to the runs. */
export function AddToDataset({ runIds, onClose }: AddToDatasetProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const form = useForm({ initialValues: { ...KNOWN_OR_NEW, split: "" } });
  const isKnown = form.values.mode === "known";
  const datasets = useQuery(datasetChoicesQuery);
  const add = async ({ knownId, name, split }: typeof form.values) => {
    const id = isKnown ? knownId! : (await data(traceApi.POST("/api/v1/datasets", { body: { name: name.trim() } }))).id;
    const shared = { dataset_id: id, use_source_run_io: true, ...(split.trim() !== "" && { split: split.trim() }) };
    for (const runId of runIds) {
      await data(traceApi.POST("/api/v1/examples", { body: { ...shared, source_run_id: runId } }));
    }
    onClose();
    notifyDone(runIds.length === 1 ? "Example added" : `${runIds.length} examples added`);
    await Promise.all([
      client.invalidateQueries({ queryKey: ["datasets"] }),
      client.invalidateQueries({ queryKey: ["dataset", id] }),
      ...runIds.map((runId) => client.invalidateQueries({ queryKey: ["run", runId] })),
    ]);
    await navigate({ to: "/datasets/$datasetId", params: { datasetId: id } });
  };
  return (
    <FormModal
      title="Add to dataset"
      action="Add"
      size="md"
      failure="Could not add the example"
      form={form}
      isReady={isKnown ? form.values.knownId !== null : form.values.name.trim() !== ""}
      onSubmit={add}
      onClose={onClose}
    >
      <KnownOrNewFields form={form} noun="dataset" choices={datasets} isKnown={isKnown} />
      <TextInput label="Split" placeholder="base" {...form.getInputProps("split")} />
      <Text size="xs" c="dimmed">
        {runIds.length === 1
          ? "The run's input becomes the example's input; its output, the reference output."
          : `Each of the ${runIds.length} runs becomes an example: its input, the example's input; its output, the reference output.`}
      </Text>
    </FormModal>
  );
}
