import { Accordion, Badge, Checkbox, Group, SimpleGrid, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { traceApi } from "../../api/clients.ts";
import { EditAndDelete } from "../../ui/edit-and-delete.tsx";
import { useConfirm } from "../../ui/confirm.tsx";
import { FormModal } from "../../ui/form-modal.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { NewButton } from "../../ui/new-button.tsx";
import { organizationQuery, permissionsQuery, type Role, rolesQuery } from "./queries.ts";
import { formatRole } from "./workspaces.tsx";

type Permission = "workspaces:read";

/** Built-in roles, and the organization's own. */
export function Roles() {
  const queryClient = useQueryClient();
  const { data: roles, error, refetch } = useQuery(rolesQuery);
  const { data: organization } = useQuery(organizationQuery);
  const { confirm, dialog } = useConfirm();
  const [edited, setEdited] = useState<Role | "new" | null>(null);
  const refresh = () => queryClient.invalidateQueries({ queryKey: ["identity"] });
  if (!roles) return <LoadState query={{ error, refetch }} rows={6} />;
  const manages = organization?.permissions.includes("organization:manage") === true;
  const remove = ({ id, display_name: name }: Role) =>
    confirm({
      title: `Delete the role ${name}?`,
      body: "A role can only be deleted if no member or key uses it.",
      action: "Delete",
      async run() {
        await traceApi.DELETE("/api/v1/orgs/current/roles/{role_id}", { params: { path: { role_id: id } } });
        await refresh();
      },
    });
  return (
    <>
      <Group justify="space-between" mb="xs">
        <Text size="sm" c="dimmed">
          Roles apply to members and keys.
        </Text>
        {manages && <NewButton onClick={() => setEdited("new")}>New role</NewButton>}
      </Group>
      <Accordion variant="contained" multiple>
        {roles.map((role) => (
          <Accordion.Item key={role.id} value={role.id}>
            <Accordion.Control>
              <Group gap="xs">
                <Text size="sm" fw={500}>
                  {formatRole(role.display_name)}
                </Text>
                <Badge size="sm" variant="default">
                  {role.access_scope}
                </Badge>
                {role.organization_id !== null && (
                  <Badge size="sm" variant="default">
                    custom
                  </Badge>
                )}
                <Text size="xs" c="dimmed">
                  {role.permissions.length === 1 ? "1 permission" : `${role.permissions.length} permissions`}
                </Text>
              </Group>
            </Accordion.Control>
            <Accordion.Panel>
              <Stack gap="xs">
                {role.description !== "" && <Text size="sm">{role.description}</Text>}
                <Group gap={6}>
                  {role.permissions.map((name) => (
                    <Badge key={name} variant="default" size="sm" tt="none" fw={400}>
                      {name}
                    </Badge>
                  ))}
                </Group>
                {manages && role.organization_id !== null && (
                  <Group>
                    <EditAndDelete onEdit={() => setEdited(role)} onDelete={() => remove(role)} />
                  </Group>
                )}
              </Stack>
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
      {edited !== null && (
        <RoleForm role={edited === "new" ? null : edited} onClose={() => setEdited(null)} onSaved={refresh} />
      )}
      {dialog}
    </>
  );
}

interface RoleFormProps {
  role: Role | null;
  onClose: () => void;
  onSaved: () => Promise<void>;
}

function RoleForm({ role, onClose, onSaved }: RoleFormProps) {
  const { data: permissions = [] } = useQuery(permissionsQuery);
  const form = useForm({
    initialValues: {
      name: role?.display_name ?? "",
      description: role?.description ?? "",
      permissions: role?.permissions ?? [],
    },
  });
  const save = async (values: typeof form.values) => {
    const body = {
      display_name: values.name.trim(),
      description: values.description,
      permissions: values.permissions as Permission[],
    };
    if (role === null) await traceApi.POST("/api/v1/orgs/current/roles", { body });
    else await traceApi.PATCH("/api/v1/orgs/current/roles/{role_id}", { params: { path: { role_id: role.id } }, body });
    await onSaved();
    onClose();
  };
  return (
    <FormModal
      title={role === null ? "New role" : `Edit ${role.display_name}`}
      action="Save"
      form={form}
      isReady={form.values.name.trim() !== "" && form.values.permissions.length > 0}
      onSubmit={save}
      onClose={onClose}
    >
      <TextInput label="Name" required data-autofocus {...form.getInputProps("name")} />
      <Textarea label="Description" autosize {...form.getInputProps("description")} />
      <Checkbox.Group label="Permissions" {...form.getInputProps("permissions")}>
        <SimpleGrid cols={{ base: 1, sm: 2 }} mt="xs" spacing="xs">
          {permissions.map(({ name, description }) => (
            <Checkbox key={name} value={name} label={name} description={description} />
          ))}
        </SimpleGrid>
      </Checkbox.Group>
    </FormModal>
  );
}
