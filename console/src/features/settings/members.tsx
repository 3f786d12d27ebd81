import { Badge, Button, Group, Select, Text } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { traceApi } from "../../api/clients.ts";
import { useConfirm } from "../../ui/confirm.tsx";
import { Empty } from "../../ui/empty.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { NewButton } from "../../ui/new-button.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { InviteForm } from "./invite-form.tsx";
import { membersQuery, organizationQuery, rolesQuery } from "./queries.ts";
import { formatRole, roleOptions } from "./workspaces.tsx";

/** Row for a member or an invitation. */
interface Person {
  id: string;
  email: string;
  name: string | null;
  roleId: string | null;
  roleName: string | null;
  since: string;
  isInvited: boolean;
}

export function Members() {
  const queryClient = useQueryClient();
  const { data: all, error, refetch } = useQuery(membersQuery);
  const { data: organization } = useQuery(organizationQuery);
  const { data: roles = [] } = useQuery(rolesQuery);
  const { confirm, dialog } = useConfirm();
  const [isInviting, setInviting] = useState(false);
  const refresh = () => queryClient.invalidateQueries({ queryKey: ["identity"] });
  const changeRole = useMutation({
    mutationFn: ({ id, roleId }: { id: string; roleId: string }) =>
      traceApi.PATCH("/api/v1/orgs/current/members/{identity_id}", {
        params: { path: { identity_id: id } },
        body: { role_id: roleId },
      }),
    onError: notifyFailure("Could not change the role"),
    onSettled: refresh,
  });
  if (!all) return <LoadState query={{ error, refetch }} rows={4} />;
  const manages = organization?.permissions.includes("organization:manage") === true;
  const choices = roleOptions(roles, "organization");
  const people: Person[] = [
    ...all.members.map((member) => ({
      id: member.id,
      email: member.email,
      name: member.full_name,
      roleId: member.org_role_id,
      roleName: member.org_role_name,
      since: member.created_at,
      isInvited: false,
    })),
    ...all.pending.map((invitation) => ({
      id: invitation.id,
      email: invitation.email,
      name: invitation.full_name,
      roleId: invitation.org_role_id ?? invitation.role_id,
      roleName: invitation.org_role_name ?? invitation.role_name,
      since: invitation.created_at,
      isInvited: true,
    })),
  ];
  const remove = ({ id, email, isInvited }: Person) =>
    confirm({
      title: isInvited ? `Revoke the invite for ${email}?` : `Remove ${email}?`,
      body: isInvited
        ? "You can invite this address again."
        : "Their sessions and personal keys stop working immediately. Resources that they created are kept.",
      action: isInvited ? "Revoke invite" : "Remove",
      async run() {
        const params = { path: { identity_id: id } };
        if (isInvited) await traceApi.DELETE("/api/v1/orgs/current/members/{identity_id}/pending", { params });
        else await traceApi.DELETE("/api/v1/orgs/current/members/{identity_id}", { params });
        await refresh();
      },
    });
  return (
    <>
      <Group justify="space-between" mb="xs">
        <Text size="sm" c="dimmed">
          Members of the organization and their roles.
        </Text>
        {manages && <NewButton onClick={() => setInviting(true)}>Invite member</NewButton>}
      </Group>
      {people.length === 0 ? (
        <Empty title="No members yet">
          <Text size="sm">
            {manages
              ? "Invite members by email. They sign in with the identity provider or a password."
              : "Ask an organization admin to invite members."}
          </Text>
        </Empty>
      ) : (
        <SimpleTable
          label="Members"
          rows={people}
          rowKey={({ id }) => id}
          columns={[
            {
              title: "Member",
              cell: ({ email, name, isInvited }) => (
                <Group gap={6}>
                  <Text size="sm" fw={500}>
                    {name ?? email}
                  </Text>
                  {name !== null && (
                    <Text size="sm" c="dimmed">
                      {email}
                    </Text>
                  )}
                  {isInvited && (
                    <Badge size="sm" variant="default">
                      invited
                    </Badge>
                  )}
                </Group>
              ),
            },
            {
              title: "Role",
              cell: ({ id, email, roleId, roleName, isInvited }) =>
                manages && !isInvited ? (
                  <Select
                    aria-label={`Role of ${email}`}
                    size="xs"
                    data={choices}
                    value={roleId}
                    allowDeselect={false}
                    disabled={changeRole.isPending}
                    onChange={(next) => next !== null && changeRole.mutate({ id, roleId: next })}
                  />
                ) : (
                  <Text size="sm">{formatRole(roleName)}</Text>
                ),
              width: 230,
            },
            { title: "Added", cell: ({ since }) => <TimeText at={since} />, width: 110 },
            {
              title: "",
              cell: (person) =>
                manages && (
                  <Group justify="flex-end">
                    <Button
                      size="compact-xs"
                      variant="default"
                      leftSection={<IconTrash size={12} aria-hidden />}
                      onClick={() => remove(person)}
                    >
                      {person.isInvited ? "Revoke invite" : "Remove"}
                    </Button>
                  </Group>
                ),
              width: 150,
            },
          ]}
        />
      )}
      {isInviting && <InviteForm onClose={() => setInviting(false)} onInvited={refresh} />}
      {dialog}
    </>
  );
}
