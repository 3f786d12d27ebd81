import { Alert, Button, Group, Modal, Select, Stack, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { agentApi, data } from "../../api/clients.ts";
import { JsonField, readJson, readObject, writeJson } from "../../ui/json-field.tsx";
import { useFocusBack } from "../../ui/use-focus-back.ts";
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
  useFocusBack();
  const queryClient = useQueryClient();
  const { data: graphs = [] } = useQuery(graphsQuery(server));
  const [name, setName] = useState(assistant?.name ?? "");
  const [graph, setGraph] = useState<string | null>(assistant?.graph_id ?? null);
  const [description, setDescription] = useState(assistant?.description ?? "");
  const [texts, setTexts] = useState({
    config: writeJson(assistant?.config ?? {}),
    context: writeJson(assistant?.context ?? {}),
    metadata: writeJson(assistant?.metadata ?? {}),
  });
  const chosen = graph ?? graphs[0] ?? "";
  const save = useMutation({
    async mutationFn() {
      const body = {
        graph_id: chosen,
        ...(name.trim() !== "" && { name: name.trim() }),
        description: description.trim() === "" ? null : description.trim(),
        config: readObject(texts.config, "Config"),
        context: readJson(texts.context.trim() === "" ? "{}" : texts.context, "Context"),
        metadata: readObject(texts.metadata, "Metadata"),
      };
      if (!assistant) return data(agentApi(server).POST("/assistants", { body }));
      const params = { path: { assistant_id: assistant.assistant_id } };
      return data(agentApi(server).PATCH("/assistants/{assistant_id}", { params, body }));
    },
    async onSuccess(saved) {
      await queryClient.invalidateQueries({ queryKey: ["agent", server, "assistants"] });
      onSaved(saved);
    },
  });
  const json = (field: keyof typeof texts, label: string, about: string) => (
    <JsonField
      label={label}
      description={about}
      value={texts[field]}
      onChange={(text) => setTexts((now) => ({ ...now, [field]: text }))}
      minHeight="4rem"
    />
  );
  return (
    <Modal
      opened
      onClose={onClose}
      title={assistant ? `Edit ${assistant.name}` : "New assistant"}
      size="lg"
      closeButtonProps={{ title: "Close" }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack gap="sm">
          <TextInput
            label="Name"
            placeholder="Untitled"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            data-autofocus
          />
          <Select
            label="Graph"
            data={[...new Set([...graphs, ...(assistant ? [assistant.graph_id] : [])])]}
            value={chosen}
            onChange={setGraph}
            allowDeselect={false}
            searchable
            required
          />
          <Textarea
            label="Description"
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
            autosize
            minRows={1}
          />
          {json("config", "Config", "Applied to every run: recursion_limit, tags, configurable.")}
          {json("context", "Context", "Runtime context of the graph.")}
          {json("metadata", "Metadata", "For search and filters. Copied to runs and their traces.")}
          {save.error && (
            <Alert color="red" role="alert">
              {save.error.message}
            </Alert>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending} disabled={chosen === ""}>
              {assistant ? "Save as new version" : "Create"}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
