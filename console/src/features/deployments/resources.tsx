import { Alert, Button, Group, NumberInput, SimpleGrid, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { controlApi } from "../../api/clients.ts";
import { notifyDone } from "../../ui/notify.ts";
import { changeResources, type ResourceName } from "./change-resources.ts";
import type { Deployment } from "./queries.ts";

const FIELDS = [
  { name: "min_scale", label: "Min. replicas", step: 1, min: 0, max: 100 },
  { name: "max_scale", label: "Max. replicas", step: 1, min: 0, max: 100 },
  { name: "cpu", label: "CPU cores", step: 0.5, min: 0.1, max: 8 },
  { name: "cpu_limit", label: "CPU limit (cores)", step: 0.5, min: 0.1, max: 16 },
  { name: "memory_mb", label: "Memory (MB)", step: 256, min: 128, max: 1_048_576 },
  { name: "memory_limit_mb", label: "Memory limit (MB)", step: 256, min: 128, max: 1_048_576 },
] as const;

/** Resource limits of the deployment's instances. */
export function Resources({ deployment }: { deployment: Deployment }) {
  const queryClient = useQueryClient();
  const spec = deployment.source_config.resource_spec ?? {};
  const [changed, setChanged] = useState<Partial<Record<ResourceName, number | string>>>({});
  const fieldValue = (name: ResourceName): number | string =>
    changed[name] ?? (typeof spec[name] === "number" ? spec[name] : "");
  const save = useMutation({
    mutationFn: () =>
      controlApi.PATCH("/v2/deployments/{deployment_id}", {
        params: { path: { deployment_id: deployment.id } },
        body: { source_config: { resource_spec: changeResources(spec, changed) } },
      }),
    async onSuccess() {
      notifyDone("New revision created with these resources");
      await queryClient.invalidateQueries({ queryKey: ["control", "deployments", deployment.id] });
    },
  });
  return (
    <Stack maw={640} gap="sm">
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {FIELDS.map(({ name, label, ...limits }) => (
          <NumberInput
            key={name}
            label={label}
            value={fieldValue(name)}
            onChange={(value) => setChanged((before) => ({ ...before, [name]: value }))}
            {...limits}
          />
        ))}
      </SimpleGrid>
      <Text size="sm" c="dimmed">
        Without a limit, it is twice the request. For local processes, limits are enforced where the machine can, and
        only those that are set.
      </Text>
      {save.error && (
        <Alert color="danger" role="alert">
          {save.error.message}
        </Alert>
      )}
      <Group>
        <Button
          size="xs"
          disabled={Object.keys(changed).length === 0}
          loading={save.isPending}
          onClick={() => save.mutate()}
        >
          Save as new revision
        </Button>
      </Group>
    </Stack>
  );
}
