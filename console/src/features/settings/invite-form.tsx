import { MultiSelect, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { traceApi } from "../../api/clients.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { rolesQuery, workspacesQuery } from "./queries.ts";
import { formatRole } from "./workspaces.tsx";

/** Form that invites a user by e-mail address; one with an account becomes a member at once. */
export function InviteForm({ onClose, onInvited }: { onClose: () => void; onInvited: () => Promise<void> }) {
  const { data: roles = [] } = useQuery(rolesQuery);
  const { data: workspaces = [] } = useQuery(workspacesQuery);
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<string | null>(null);
  const [into, setInto] = useState<string[]>([]);
  const [workspaceRole, setWorkspaceRole] = useState<string | null>(null);
  const choices = (scope: "organization" | "workspace") =>
    roles
      .filter(({ access_scope: accessScope }) => accessScope === scope)
      .map(({ id, display_name: label }) => ({ value: id, label: formatRole(label) }));
  const invite = async () => {
    await traceApi.POST("/api/v1/orgs/current/members", {
      body: {
        email: email.trim(),
        ...(role !== null && { role_id: role }),
        ...(into.length > 0 && { workspace_ids: into }),
        ...(into.length > 0 && workspaceRole !== null && { workspace_role_id: workspaceRole }),
      },
    });
    await onInvited();
  };
  return (
    <FormModal
      title="Invite member"
      action="Invite member"
      isReady={email.includes("@")}
      onSubmit={invite}
      onClose={onClose}
    >
      <TextInput
        label="Email"
        type="email"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        required
        data-autofocus
      />
      <Select
        label="Role in the organization"
        placeholder="Organization user"
        data={choices("organization")}
        value={role}
        onChange={setRole}
        clearable
      />
      <MultiSelect
        label="Workspaces"
        placeholder={into.length === 0 ? "Select workspaces" : ""}
        data={workspaces.map(({ id, display_name: label }) => ({ value: id, label }))}
        value={into}
        onChange={setInto}
      />
      {into.length > 0 && (
        <Select
          label="Role in these workspaces"
          placeholder="Workspace user"
          data={choices("workspace")}
          value={workspaceRole}
          onChange={setWorkspaceRole}
          clearable
        />
      )}
    </FormModal>
  );
}
