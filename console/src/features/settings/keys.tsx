import { Alert, Badge, Button, Code, Group, Modal, Stack, Text } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { traceApi } from "../../api/clients.ts";
import { useConfirm } from "../../ui/confirm.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { NewButton } from "../../ui/new-button.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { useFocusBack } from "../../ui/use-focus-back.ts";
import { KeyForm } from "./key-form.tsx";
import {
  type ApiKey,
  keysQuery,
  organizationKeysQuery,
  organizationQuery,
  personalKeysQuery,
  identityQuery,
} from "./queries.ts";
import { Section } from "../../ui/section.tsx";

type Kind = "service" | "organization" | "personal";

const QUERIES = { service: keysQuery, organization: organizationKeysQuery, personal: personalKeysQuery };

/** Service keys to this and other workspaces, and the user's personal keys. */
export function Keys() {
  const { data: identity } = useQuery(identityQuery);
  const { data: organization } = useQuery(organizationQuery);
  const permissions: readonly string[] = organization?.permissions ?? [];
  const isPerson = identity !== undefined && identity.user_id !== "";
  return (
    <Stack gap="lg">
      <KeyList
        kind="service"
        title="Service keys"
        about="For applications. They belong to the workspace, not to a user."
      />
      {permissions.includes("organization:read") && (
        <KeyList
          kind="organization"
          title="Organization keys"
          about="For all workspaces, or for others than this one. Created on first startup and by heddle keys create --organization."
          isReadOnly={!permissions.includes("organization:manage")}
        />
      )}
      {isPerson && <KeyList kind="personal" title="Your personal keys" about="They have your permissions." />}
    </Stack>
  );
}

interface KeyListProps {
  kind: Kind;
  title: string;
  about: string;
  isReadOnly?: boolean;
}

function KeyList({ kind, title, about, isReadOnly = false }: KeyListProps) {
  const queryClient = useQueryClient();
  const { data: found, error, refetch } = useQuery(QUERIES[kind]);
  const { data: here } = useQuery({ ...keysQuery, enabled: kind === "organization" });
  // keys of the workspace are in a separate list
  const keys =
    kind === "organization"
      ? here && found?.filter(({ id }) => here.every((workspaceKey) => workspaceKey.id !== id))
      : found;
  const { confirm, dialog } = useConfirm();
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<string | null>(null);
  const refresh = () => queryClient.invalidateQueries({ queryKey: ["identity"] });
  const revoke = ({ id, description, short_key: short }: ApiKey) =>
    confirm({
      title: `Revoke ${description}?`,
      body: `Requests with ${short} are rejected immediately. This cannot be undone.`,
      action: "Revoke",
      async run() {
        if (kind === "organization") {
          await traceApi.DELETE("/api/v1/orgs/current/service-keys/{api_key_id}", {
            params: { path: { api_key_id: id } },
          });
        } else if (kind === "service") {
          await traceApi.DELETE("/api/v1/api-key/{api_key_id}", { params: { path: { api_key_id: id } } });
        } else {
          await traceApi.DELETE("/api/v1/api-key/current/{pat_id}", { params: { path: { pat_id: id } } });
        }
        await refresh();
      },
    });
  if (kind === "organization" && (error || !keys?.length)) return null;
  return (
    <Section
      title={title}
      about={about}
      action={kind !== "organization" && <NewButton onClick={() => setCreating(true)}>New key</NewButton>}
    >
      <LoadState query={{ data: keys, error, refetch }} rows={3} />
      {keys?.length === 0 && (
        <Empty title="No keys yet">
          <Text size="sm">
            Create one with “New key”. SDKs read it from <Code>LANGSMITH_API_KEY</Code>.
          </Text>
        </Empty>
      )}
      {keys !== undefined && keys.length > 0 && (
        <SimpleTable
          label={title}
          rows={keys}
          rowKey={({ id }) => id}
          minWidth={820}
          columns={[
            {
              title: "Description",
              cell: (key) => (
                <Group gap={6}>
                  <Text size="sm" fw={500}>
                    {key.description}
                  </Text>
                  {key.read_only && (
                    <Badge size="sm" variant="default">
                      read-only
                    </Badge>
                  )}
                </Group>
              ),
            },
            { title: "Key", cell: ({ short_key: short }) => <Code>{short}</Code>, width: 200 },
            ...(kind === "organization"
              ? [
                  {
                    title: "Workspaces",
                    cell: ({ workspace_names: names }: ApiKey) => (
                      <Text size="sm">{names === null ? "all" : names.join(", ")}</Text>
                    ),
                    width: 160,
                  },
                ]
              : []),
            { title: "Created", cell: ({ created_at: at }) => <TimeText at={at} />, width: 110 },
            {
              title: "Last used",
              cell: ({ last_used_at: at }) => (at === null ? <Text size="sm">never</Text> : <TimeText at={at} />),
              width: 110,
            },
            {
              title: "Expires",
              cell: ({ expires_at: at }) => (at === null ? <Text size="sm">never</Text> : <TimeText at={at} />),
              width: 110,
            },
            {
              title: "",
              cell: (key) =>
                !isReadOnly && (
                  <Group justify="flex-end">
                    <Button
                      size="compact-xs"
                      variant="default"
                      leftSection={<IconTrash size={12} aria-hidden />}
                      onClick={() => revoke(key)}
                    >
                      Revoke
                    </Button>
                  </Group>
                ),
              width: 110,
            },
          ]}
        />
      )}
      {isCreating && kind !== "organization" && (
        <KeyForm
          kind={kind}
          onClose={() => setCreating(false)}
          onCreated={async (key) => {
            setCreating(false);
            setCreated(key);
            await refresh();
          }}
        />
      )}
      {created !== null && <NewKeyModal value={created} onClose={() => setCreated(null)} />}
      {dialog}
    </Section>
  );
}

function NewKeyModal({ value, onClose }: { value: string; onClose: () => void }) {
  useFocusBack();
  return (
    <Modal
      opened
      onClose={onClose}
      title="Key created"
      size="lg"
      closeOnClickOutside={false}
      closeButtonProps={{ title: "Close" }}
    >
      <Stack gap="sm">
        <Alert color="warning">Copy the key now. It is not shown again.</Alert>
        <Group gap="xs" wrap="nowrap">
          <Code block style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap", flex: 1 }} aria-label="Key">
            {value}
          </Code>
          <CopyButton value={value} label="Copy key" />
        </Group>
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
