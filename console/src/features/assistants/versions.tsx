import { Badge, Button, Group, Radio, Stack, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { agentApi } from "../../api/clients.ts";
import { DiffView } from "../../ui/diff-view.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { notifyDone, notifyFailure } from "../../ui/notify.ts";
import { TimeText } from "../../ui/time-text.tsx";
import { type Assistant, type AssistantVersion, versionsQuery } from "./queries.ts";

/** All versions, the differences between two of them, and a rollback to one. */
export function Versions({ server, assistant }: { server: string; assistant: Assistant }) {
  const id = assistant.assistant_id;
  const queryClient = useQueryClient();
  const { data: versions, error, refetch } = useQuery(versionsQuery(server, id));
  const [chosen, setChosen] = useState<number | null>(null);
  const makeLatest = useMutation({
    mutationFn: (version: number) =>
      agentApi(server).POST("/assistants/{assistant_id}/latest", {
        params: { path: { assistant_id: id } },
        body: { version },
      }),
    onSuccess(_, version) {
      notifyDone(`Version ${version} is now active`);
      return queryClient.invalidateQueries({ queryKey: ["agent", server, "assistants"] });
    },
    onError: notifyFailure("Could not change the version"),
  });
  if (!versions) return <LoadState query={{ error, refetch }} rows={4} />;
  const current = versions.find(({ version }) => version === assistant.version);
  const other = versions.find(({ version }) => version === chosen);
  return (
    <Stack>
      <Radio.Group
        value={chosen === null ? null : String(chosen)}
        onChange={(value) => setChosen(Number(value))}
        aria-label="Version to compare with the active one"
      >
        <Stack gap={4}>
          {versions.map(({ version, name, created_at: at }) => (
            <Group key={version} gap="sm" mih={30}>
              <Radio value={String(version)} label={`Version ${version}: ${name}`} size="sm" />
              <TimeText at={at} c="dimmed" />
              {version === assistant.version ? (
                <Badge size="sm" variant="default">
                  active
                </Badge>
              ) : (
                <Button
                  size="compact-xs"
                  variant="default"
                  loading={makeLatest.isPending && makeLatest.variables === version}
                  onClick={() => makeLatest.mutate(version)}
                >
                  Make active
                </Button>
              )}
            </Group>
          ))}
        </Stack>
      </Radio.Group>
      {versions.length === 1 && (
        <Text size="sm" c="dimmed">
          There is only one version so far. Each edit creates a new one, and any version can be made active again.
        </Text>
      )}
      {other && current && other !== current && <Differences from={other} to={current} />}
      {other && other === current && (
        <Text size="sm" c="dimmed">
          This is the active version. Select another one to compare.
        </Text>
      )}
    </Stack>
  );
}

const COMPARED = ["graph_id", "name", "description", "config", "context", "metadata"] as const;

/** Properties that affect runs; the times of versions always differ. */
const pickContent = (version: AssistantVersion) =>
  Object.fromEntries(COMPARED.map((field) => [field, version[field] ?? null]));

function Differences({ from, to }: { from: AssistantVersion; to: AssistantVersion }) {
  return (
    <section aria-label="Differences">
      <Text component="h2" size="sm" fw={600} mb={4}>
        From version {from.version} to version {to.version} (active)
      </Text>
      <DiffView
        before={pickContent(from)}
        after={pickContent(to)}
        names={[`version ${from.version}`, `version ${to.version}`]}
      />
    </section>
  );
}
