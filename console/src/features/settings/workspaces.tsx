import { Button, Group, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconPencil, IconTrash } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { traceApi } from "../../api/clients.ts";
import { readWorkspace } from "../../api/credentials.ts";
import { useConfirm } from "../../ui/confirm.tsx";
import { NewButton } from "../../ui/new-button.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { FormModal } from "../../ui/form-modal.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { organizationQuery, identityQuery, type Role, type Workspace } from "./queries.ts";
import { workspacesQuery } from "../../app/queries.ts";

export function Workspaces() {
  const queryClient = useQueryClient();
  const { data: workspaces, error, refetch } = useQuery(workspacesQuery);
  const { data: organization } = useQuery(organizationQuery);
  const { data: identity } = useQuery(identityQuery);
  const { confirm, dialog } = useConfirm();
  const [named, setNamed] = useState<Workspace | "new" | null>(null);
  const refresh = () => queryClient.invalidateQueries({ queryKey: ["identity"] });
  if (!workspaces) return <LoadState query={{ error, refetch }} rows={3} />;
  const manages = organization?.permissions.includes("organization:manage") === true;
  const current = readWorkspace() ?? identity?.tenant_id;
  const remove = ({ id, display_name: name }: Workspace) =>
    confirm({
      title: `Delete workspace ${name}?`,
      body: "All users and keys lose access. Operators can still access its data.",
      action: "Delete",
      typed: name,
      async run() {
        await traceApi.DELETE("/api/v1/workspaces/{workspace_id}", { params: { path: { workspace_id: id } } });
        await refresh();
      },
    });
  return (
    <>
      <Group justify="space-between" mb="xs">
        <Text size="sm" c="dimmed">
          {organization === undefined
            ? " "
            : `Workspaces of ${organization.display_name}. Each has its own traces, deployments and keys.`}
        </Text>
        {manages && <NewButton onClick={() => setNamed("new")}>New workspace</NewButton>}
      </Group>
      <SimpleTable
        label="Workspaces"
        rows={workspaces}
        rowKey={({ id }) => id}
        columns={[
          {
            title: "Name",
            cell: ({ id, display_name: name }) => (
              <Text size="sm" fw={500}>
                {name}
                {id === current && (
                  <Text span size="xs" c="dimmed">
                    {" "}
                    · current
                  </Text>
                )}
              </Text>
            ),
          },
          { title: "Your role", cell: ({ role_name: role }) => <Text size="sm">{formatRole(role)}</Text>, width: 200 },
          { title: "Created", cell: ({ created_at: at }) => <TimeText at={at} />, width: 110 },
          {
            title: "",
            cell: (workspace) => (
              <Group gap="xs" justify="flex-end">
                {workspace.permissions.includes("workspaces:manage") && (
                  <Button
                    size="compact-xs"
                    variant="default"
                    leftSection={<IconPencil size={12} aria-hidden />}
                    onClick={() => setNamed(workspace)}
                  >
                    Rename
                  </Button>
                )}
                {manages && workspaces.length > 1 && (
                  <Button
                    size="compact-xs"
                    variant="default"
                    leftSection={<IconTrash size={12} aria-hidden />}
                    onClick={() => remove(workspace)}
                  >
                    Delete
                  </Button>
                )}
              </Group>
            ),
            width: 220,
          },
        ]}
      />
      {named !== null && (
        <WorkspaceForm workspace={named === "new" ? null : named} onClose={() => setNamed(null)} onSaved={refresh} />
      )}
      {dialog}
    </>
  );
}

interface WorkspaceFormProps {
  workspace: Workspace | null;
  onClose: () => void;
  onSaved: () => Promise<void>;
}

function WorkspaceForm({ workspace, onClose, onSaved }: WorkspaceFormProps) {
  const form = useForm({ initialValues: { name: workspace?.display_name ?? "" } });
  const save = async ({ name }: typeof form.values) => {
    const body = { display_name: name.trim() };
    if (workspace === null) await traceApi.POST("/api/v1/workspaces", { body });
    else {
      const params = { path: { workspace_id: workspace.id } };
      await traceApi.PATCH("/api/v1/workspaces/{workspace_id}", { params, body });
    }
    await onSaved();
    onClose();
  };
  return (
    <FormModal
      title={workspace === null ? "New workspace" : `Rename ${workspace.display_name}`}
      action={workspace === null ? "Create" : "Rename"}
      form={form}
      isReady={form.values.name.trim() !== ""}
      onSubmit={save}
      onClose={onClose}
    >
      <TextInput label="Name" required data-autofocus {...form.getInputProps("name")} />
    </FormModal>
  );
}

/** Formats a role's name; built-in ones are named WORKSPACE_ADMIN and so on. */
export const formatRole = (role: string | null): string =>
  role === null
    ? "–"
    : /^[A-Z_]+$/.test(role)
      ? role
          .toLowerCase()
          .replaceAll("_", " ")
          .replace(/^./, (first) => first.toUpperCase())
      : role;

/** Options of a select for the roles of one scope. */
export const roleOptions = (roles: Role[], scope: Role["access_scope"]) =>
  roles
    .filter(({ access_scope: accessScope }) => accessScope === scope)
    .map(({ id, display_name: name }) => ({ value: id, label: formatRole(name) }));
