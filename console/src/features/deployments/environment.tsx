import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { controlApi, data } from "../../api/clients.ts";
import { notifyDone } from "../../ui/notify.ts";
import { type Deployment, deploymentQuery } from "./queries.ts";
import { VariablesEditor } from "./variables-editor.tsx";

/** The server's environment variables. Values are never shown; untouched ones are kept. */
export function Environment({ deployment }: { deployment: Deployment }) {
  const queryClient = useQueryClient();
  const [variables, setVariables] = useState(deployment.secrets);
  const set = variables.filter(({ name }) => name !== "");
  const isChanged = JSON.stringify(set) !== JSON.stringify(deployment.secrets);
  const save = useMutation({
    mutationFn: () =>
      data(
        controlApi.PATCH("/v2/deployments/{deployment_id}", {
          params: { path: { deployment_id: deployment.id } },
          // an empty list alone would keep them all
          body: { secrets: set, ...(set.length === 0 && { clear_secrets: true }) },
        }),
      ),
    async onSuccess(saved) {
      queryClient.setQueryData(deploymentQuery(saved.id).queryKey, saved);
      setVariables(saved.secrets);
      notifyDone("New revision created with this environment");
      await queryClient.invalidateQueries({ queryKey: ["control", "deployments", deployment.id] });
    },
  });
  return (
    <Stack maw={760} gap="sm">
      <Text size="sm" c="dimmed">
        Values are stored encrypted and never shown. Saving creates a new revision if the deployment has one.
      </Text>
      <VariablesEditor variables={variables} onChange={setVariables} />
      {save.error && (
        <Alert color="danger" role="alert">
          {save.error.message}
        </Alert>
      )}
      <Group gap="xs">
        <Button size="xs" disabled={!isChanged} loading={save.isPending} onClick={() => save.mutate()}>
          Save as new revision
        </Button>
        <Button size="xs" variant="default" disabled={!isChanged} onClick={() => setVariables(deployment.secrets)}>
          Discard changes
        </Button>
      </Group>
    </Stack>
  );
}
