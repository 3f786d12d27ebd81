import { Select, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery, useQueryClient } from "@tanstack/react-query";

import { agentApi, data } from "../../api/clients.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { JsonField } from "../../ui/json-field.tsx";
import { readJson, readObject, writeJson } from "../../ui/json-text.ts";
import { type Assistant, graphsQuery } from "./queries.ts";

interface AssistantFormProps {
  server: string;
  /** Absent for a new one. Each change creates a new version. */
  assistant?: Assistant | undefined;
  onClose: () => void;
  onSaved: (assistant: Assistant) => void;
}

/** Form for a new assistant, or a new version of one. */
export function AssistantForm({ server, assistant, onClose, onSaved }: AssistantFormProps) {
  const queryClient = useQueryClient();
  const { data: graphs = [] } = useQuery(graphsQuery(server));
  const form = useForm({
    initialValues: {
      name: assistant?.name ?? "",
      graph: assistant?.graph_id ?? null,
      description: assistant?.description ?? "",
      config: writeJson(assistant?.config ?? {}),
      context: writeJson(assistant?.context ?? {}),
      metadata: writeJson(assistant?.metadata ?? {}),
    },
  });
  const graph = form.values.graph ?? graphs[0] ?? "";
  const save = async ({ name, description, config, context, metadata }: typeof form.values) => {
    const body = {
      graph_id: graph,
      ...(name.trim() !== "" && { name: name.trim() }),
      description: description.trim() === "" ? null : description.trim(),
      config: readObject(config, "Config"),
      context: readJson(context.trim() === "" ? "{}" : context, "Context"),
      metadata: readObject(metadata, "Metadata"),
    };
    const params = { path: { assistant_id: assistant?.assistant_id ?? "" } };
    const saved = await data(
      assistant
        ? agentApi(server).PATCH("/assistants/{assistant_id}", { params, body })
        : agentApi(server).POST("/assistants", { body }),
    );
    await queryClient.invalidateQueries({ queryKey: ["agent", server, "assistants"] });
    onSaved(saved);
  };
  const json = (field: "config" | "context" | "metadata", label: string, about: string) => (
    <JsonField label={label} description={about} minHeight="4rem" {...form.getInputProps(field)} />
  );
  return (
    <FormModal
      title={assistant ? `Edit ${assistant.name}` : "New assistant"}
      action={assistant ? "Save as new version" : "Create"}
      form={form}
      isReady={graph !== ""}
      onSubmit={save}
      onClose={onClose}
    >
      <TextInput label="Name" placeholder="Untitled" data-autofocus {...form.getInputProps("name")} />
      <Select
        label="Graph"
        data={[...new Set([...graphs, ...(assistant ? [assistant.graph_id] : [])])]}
        allowDeselect={false}
        searchable
        required
        {...form.getInputProps("graph")}
        value={graph}
      />
      <Textarea label="Description" autosize minRows={1} {...form.getInputProps("description")} />
      {json("config", "Config", "Applied to every run: recursion_limit, tags, configurable.")}
      {json("context", "Context", "Runtime context of the graph.")}
      {json("metadata", "Metadata", "For search and filters. Copied to runs and their traces.")}
    </FormModal>
  );
}
