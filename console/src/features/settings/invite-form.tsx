import { MultiSelect, Select, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";

import { traceApi } from "../../api/clients.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { workspacesQuery } from "../../app/queries.ts";
import { rolesQuery } from "./queries.ts";
import { roleOptions } from "./workspaces.tsx";

/** Form that invites a user by e-mail address; one with an account becomes a member at once. */
export function InviteForm({ onClose, onInvited }: { onClose: () => void; onInvited: () => Promise<void> }) {
  const { data: roles = [] } = useQuery(rolesQuery);
  const { data: workspaces = [] } = useQuery(workspacesQuery);
  const form = useForm({
    initialValues: {
      email: "",
      role: null as string | null,
      workspaces: [] as string[],
      workspaceRole: null as string | null,
    },
  });
  const isForWorkspaces = form.values.workspaces.length > 0;
  const invite = async (values: typeof form.values) => {
    await traceApi.POST("/api/v1/orgs/current/members", {
      body: {
        email: values.email.trim(),
        ...(values.role !== null && { role_id: values.role }),
        ...(isForWorkspaces && { workspace_ids: values.workspaces }),
        ...(isForWorkspaces && values.workspaceRole !== null && { workspace_role_id: values.workspaceRole }),
      },
    });
    await onInvited();
    onClose();
  };
  return (
    <FormModal
      title="Invite member"
      action="Invite member"
      form={form}
      isReady={form.values.email.includes("@")}
      onSubmit={invite}
      onClose={onClose}
    >
      <TextInput label="Email" type="email" required data-autofocus {...form.getInputProps("email")} />
      <Select
        label="Role in the organization"
        placeholder="Organization user"
        data={roleOptions(roles, "organization")}
        clearable
        {...form.getInputProps("role")}
      />
      <MultiSelect
        label="Workspaces"
        placeholder={isForWorkspaces ? "" : "Select workspaces"}
        data={workspaces.map(({ id, display_name: label }) => ({ value: id, label }))}
        {...form.getInputProps("workspaces")}
      />
      {isForWorkspaces && (
        <Select
          label="Role in these workspaces"
          placeholder="Workspace user"
          data={roleOptions(roles, "workspace")}
          clearable
          {...form.getInputProps("workspaceRole")}
        />
      )}
    </FormModal>
  );
}
