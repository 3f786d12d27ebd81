import { MultiSelect, NumberInput, Select, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { newId } from "../../ui/new-id.ts";
import { notifyDone } from "../../ui/notify.ts";
import { connectionsQuery } from "../models/queries.ts";
import { splitsQuery } from "./queries.ts";

/** Form that asks a model for variants of a dataset's examples. Sending it again continues an interrupted request. */
export function GenerateForm({ datasetId, onClose }: { datasetId: string; onClose: () => void }) {
  const client = useQueryClient();
  const connections = useQuery(connectionsQuery);
  const { data: splits = [] } = useQuery(splitsQuery(datasetId, ""));
  const [requestId] = useState(newId);
  const form = useForm({
    initialValues: {
      connectionId: null as string | null,
      model: "",
      count: 10 as number | string,
      splits: [] as string[],
      instructions: "",
    },
  });
  const { connectionId, model } = form.values;
  const connection = connections.data?.find((each) => each.id === connectionId);
  const generate = async (values: typeof form.values) => {
    const name = values.model.trim();
    const body = {
      num_examples: Number(values.count),
      model: { connection_id: connectionId, parameters: {}, ...(name !== "" && { model: name }) },
      request_id: requestId,
      ...(values.splits.length > 0 && { splits: values.splits }),
      ...(values.instructions.trim() !== "" && { instructions: values.instructions.trim() }),
    };
    const params = { path: { dataset_id: datasetId } };
    const answer = await data(traceApi.POST("/api/v1/datasets/{dataset_id}/generate", { params, body }));
    await client.invalidateQueries({ queryKey: ["dataset", datasetId, "proposals"] });
    const [failed] = answer.failed;
    if (answer.proposals.length === 0 && failed) throw new Error(answer.stopped ?? failed.error);
    onClose();
    notifyDone(
      `${answer.proposals.length} variants to review` +
        (answer.duplicates > 0 ? `, ${answer.duplicates} duplicates left out` : "") +
        (answer.invalid > 0 ? `, ${answer.invalid} left out that the schema excludes` : ""),
    );
  };
  return (
    <FormModal
      title="Generate variants"
      action="Generate"
      size="md"
      failure="Could not generate variants"
      form={form}
      isReady={connectionId !== null && (model.trim() !== "" || connection?.default_model != null)}
      onSubmit={generate}
      onClose={onClose}
    >
      <Select
        label="Model connection"
        data={(connections.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        placeholder={connections.isPending ? "Loading…" : "Select a connection"}
        nothingFoundMessage="No connections"
        {...form.getInputProps("connectionId")}
        error={connections.error?.message}
      />
      <TextInput label="Model" placeholder={connection?.default_model ?? ""} {...form.getInputProps("model")} />
      <NumberInput label="Variants" min={1} max={200} allowDecimal={false} {...form.getInputProps("count")} />
      {splits.length > 0 && (
        <MultiSelect label="Of the splits" placeholder="All" data={splits} {...form.getInputProps("splits")} />
      )}
      <Textarea
        label="Instructions"
        placeholder="Vary the language, include typing errors, …"
        autosize
        minRows={2}
        maxRows={8}
        {...form.getInputProps("instructions")}
      />
    </FormModal>
  );
}
