import { Alert, Button, Group, Text } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { useConfirm } from "../../ui/confirm.tsx";
import { duration } from "../../ui/format.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { NewButton } from "../../ui/new-button.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { usePermission } from "../settings/use-permission.ts";
import { ConnectionForm } from "./connection-form.tsx";
import { type Connection, connectionsQuery, providersQuery } from "./queries.ts";
import { Section } from "../../ui/section.tsx";

/** Connections to providers: an address, keys and a default model under a name. */
export function ConnectionsSection() {
  const client = useQueryClient();
  const { data: connections, error, refetch } = useQuery(connectionsQuery);
  const { data: providers = [] } = useQuery(providersQuery);
  const { confirm, dialog } = useConfirm();
  const [edited, setEdited] = useState<Connection | "new" | null>(null);
  const manage = usePermission("models:manage");
  const remove = ({ id, name }: Connection) =>
    confirm({
      title: `Delete ${name}?`,
      body: "Drafts and saved configurations that use this connection need another one. Its keys stay in the workspace's secrets.",
      action: "Delete",
      run: async () => {
        await traceApi.DELETE("/api/v1/models/connections/{connection_id}", {
          params: { path: { connection_id: id } },
        });
        await client.invalidateQueries({ queryKey: ["models"] });
      },
    });
  return (
    <Section
      title="Connections"
      about="Providers of models that the playground calls. Keys are stored encrypted and never shown."
      action={
        <NewButton denial={manage} onClick={() => setEdited("new")}>
          New connection
        </NewButton>
      }
    >
      <LoadState query={{ data: connections, error, refetch }} rows={3} />
      {connections?.length === 0 && (
        <Text size="sm" c="dimmed">
          No connections yet. Create one with “New connection”, or store a provider&apos;s default key.
        </Text>
      )}
      {connections && connections.length > 0 && (
        <SimpleTable
          label="Connections"
          rows={connections}
          rowKey={({ id }) => id}
          minWidth={820}
          columns={[
            { title: "Name", cell: ({ name }) => <Text size="sm">{name}</Text> },
            {
              title: "Provider",
              cell: ({ provider }) => (
                <Text size="sm">{providers.find(({ id }) => id === provider)?.name ?? provider}</Text>
              ),
              width: 150,
            },
            {
              title: "Address and model",
              cell: ({ settings, default_model: model }) => (
                <Text size="xs" c="dimmed">
                  {[settings["base_url"] ?? "default address", model].filter(Boolean).join(" · ")}
                </Text>
              ),
            },
            { title: "Status", cell: (connection) => <ConnectionStatus connection={connection} /> },
            {
              title: "",
              cell: (connection) => (
                <Group gap={4} justify="flex-end" wrap="nowrap">
                  <Button
                    size="compact-xs"
                    variant="default"
                    disabled={manage !== null}
                    title={manage ?? undefined}
                    aria-label={`Edit ${connection.name}`}
                    onClick={() => setEdited(connection)}
                  >
                    Edit
                  </Button>
                  <Button
                    size="compact-xs"
                    variant="default"
                    leftSection={<IconTrash size={12} aria-hidden />}
                    disabled={manage !== null}
                    title={manage ?? undefined}
                    aria-label={`Delete ${connection.name}`}
                    onClick={() => remove(connection)}
                  >
                    Delete
                  </Button>
                </Group>
              ),
              width: 150,
            },
          ]}
        />
      )}
      {edited !== null && (
        <ConnectionForm connection={edited === "new" ? null : edited} onClose={() => setEdited(null)} />
      )}
      {dialog}
    </Section>
  );
}

/** Whether a connection is complete, and a button that makes a short call with it. */
function ConnectionStatus({
  connection: { id, name, ready, problem, default_model: model },
}: {
  connection: Connection;
}) {
  const manage = usePermission("models:manage");
  const client = useQueryClient();
  const test = useMutation({
    mutationFn: () =>
      data(
        traceApi.POST("/api/v1/models/connections/{connection_id}/test", {
          params: { path: { connection_id: id } },
          body: {},
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: ["models", "budget"] }),
  });
  const failure = test.error?.message ?? test.data?.error?.message;
  const needsModel = model === null ? "Set a default model to test the connection." : null;
  const reason = manage ?? (ready ? needsModel : problem);
  return (
    <>
      <Group gap={6}>
        <StatusBadge status={ready ? "ready" : "incomplete"} />
        <Button
          size="compact-xs"
          variant="default"
          aria-label={`Test ${name}`}
          loading={test.isPending}
          disabled={reason !== null}
          title={reason ?? undefined}
          onClick={() => test.mutate()}
        >
          Test
        </Button>
      </Group>
      {problem !== null && (
        <Text size="xs" mt={2}>
          {problem}
        </Text>
      )}
      <div role="status">
        {test.data?.ok === true && (
          <Text size="xs" mt={2}>
            {test.data.model} answered in {duration(test.data.latency_ms)}.
          </Text>
        )}
        {failure !== undefined && (
          <Alert color="danger" variant="light" py={4} mt={4}>
            <Text size="xs">{failure}</Text>
          </Alert>
        )}
      </div>
    </>
  );
}
