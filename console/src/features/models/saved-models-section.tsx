import { Button, Code, Group, Text } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";

import { traceApi } from "../../api/clients.ts";
import { useConfirm } from "../../ui/confirm.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { usePermission } from "../settings/use-permission.ts";
import { connectionsQuery, savedModelsQuery } from "./queries.ts";
import { readSavedModel } from "./saved-model.ts";
import { Section } from "../../ui/section.tsx";

/** Saved configurations of models, which the playground offers. */
export function SavedModelsSection() {
  const client = useQueryClient();
  const { data: saved, error, refetch } = useQuery(savedModelsQuery);
  const { data: connections = [] } = useQuery(connectionsQuery);
  const { confirm, dialog } = useConfirm();
  const refusal = usePermission("models:manage");
  const remove = (id: string, name: string) =>
    confirm({
      title: `Delete ${name}?`,
      body: "The playground no longer offers this configuration. Drafts that use it keep their values.",
      action: "Delete",
      run: async () => {
        const params = { path: { playground_settings_id: id } };
        await traceApi.DELETE("/api/v1/playground-settings/{playground_settings_id}", { params });
        await client.invalidateQueries({ queryKey: savedModelsQuery.queryKey });
      },
    });
  return (
    <Section title="Saved configurations" about="Models with parameters under a name, saved in the playground.">
      <LoadState query={{ data: saved, error, refetch }} rows={2} />
      {saved?.length === 0 && (
        <Text size="sm" c="dimmed">
          None yet. Save one in the playground, below the parameters of a model.
        </Text>
      )}
      {saved && saved.length > 0 && (
        <SimpleTable
          label="Saved configurations"
          rows={saved}
          rowKey={({ id }) => id}
          minWidth={620}
          columns={[
            { title: "Name", cell: ({ name }) => <Text size="sm">{name ?? "Unnamed"}</Text> },
            {
              title: "Model",
              cell: (entry) => {
                const model = readSavedModel(entry)?.model;
                const from = connections.find(({ id }) => id === model?.connectionId)?.name ?? model?.provider;
                return <Text size="sm">{model ? `${model.model} · ${from ?? "deleted connection"}` : "–"}</Text>;
              },
            },
            {
              title: "Parameters",
              cell: (entry) => <Code>{JSON.stringify(readSavedModel(entry)?.model.parameters ?? {})}</Code>,
            },
            { title: "Changed", cell: ({ updated_at: at }) => <TimeText at={at} />, width: 110 },
            {
              title: "",
              cell: ({ id, name }) => (
                <Group justify="flex-end">
                  <Button
                    size="compact-xs"
                    variant="default"
                    leftSection={<IconTrash size={12} aria-hidden />}
                    disabled={refusal !== null}
                    title={refusal ?? undefined}
                    onClick={() => remove(id, name ?? "this configuration")}
                  >
                    Delete
                  </Button>
                </Group>
              ),
              width: 110,
            },
          ]}
        />
      )}
      {dialog}
    </Section>
  );
}
