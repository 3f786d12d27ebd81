import { Button, Code, Group, Stack, TagsInput, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { traceApi } from "../../api/clients.ts";
import { usePermission } from "./use-permission.ts";
import { useConfirm } from "../../ui/confirm.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { notifyDone, notifyFailure } from "../../ui/notify.ts";
import { PermittedButton } from "../../ui/permitted-button.tsx";
import { type Environments, environmentsQuery, hubSettingsQuery } from "../prompts/queries.ts";

/** Handle of the workspace, and the environments of its prompts. */
export function PromptDefaults() {
  const workspace = useQuery(hubSettingsQuery);
  const environments = useQuery(environmentsQuery);
  if (!workspace.data || !environments.data) return <LoadState query={[workspace, environments]} rows={4} />;
  return (
    <Stack gap="xl" maw={640}>
      <Handle key={workspace.data.tenant_handle} handle={workspace.data.tenant_handle ?? null} />
      <EnvironmentNames key={environments.data.names.join()} environments={environments.data} />
    </Stack>
  );
}

function Handle({ handle }: { handle: string | null }) {
  const client = useQueryClient();
  const denial = usePermission("workspaces:manage");
  const { confirm, dialog } = useConfirm();
  const form = useForm({ initialValues: { handle: "" } });
  const wanted = form.values.handle.trim();
  const save = () =>
    confirm({
      title: `Set the handle ${wanted}?`,
      body: "It becomes part of the names of this workspace's prompts and cannot be changed later.",
      action: "Set handle",
      isHarmless: true,
      async run() {
        await traceApi.POST("/api/v1/settings/handle", { body: { tenant_handle: wanted } });
        await client.invalidateQueries({ queryKey: hubSettingsQuery.queryKey });
        await client.invalidateQueries({ queryKey: ["prompts"] });
        notifyDone(`The handle is ${wanted}`);
      },
    });
  return (
    <section aria-label="Handle">
      <Text component="h2" fw={600}>
        Handle
      </Text>
      <Text size="sm" c="dimmed" mb="xs">
        The owner in names of this workspace&apos;s prompts. Other workspaces use it to pull public prompts.
      </Text>
      {handle !== null ? (
        <Text size="sm">
          <Code>{handle}</Code> It cannot be changed.
        </Text>
      ) : (
        <form
          onSubmit={form.onSubmit(() => {
            if (denial === null && wanted !== "") save();
          })}
        >
          <Group gap="xs" align="flex-end">
            <TextInput
              label="Handle"
              placeholder="acme"
              size="xs"
              autoComplete="off"
              {...form.getInputProps("handle")}
            />
            <PermittedButton denial={denial} type="submit" size="xs">
              Set handle
            </PermittedButton>
          </Group>
        </form>
      )}
      {dialog}
    </section>
  );
}

function EnvironmentNames({ environments: { id, names } }: { environments: Environments }) {
  const client = useQueryClient();
  const denial = usePermission("workspaces:manage");
  const [wanted, setWanted] = useState(names);
  const refresh = () => client.invalidateQueries({ queryKey: environmentsQuery.queryKey });
  const save = useMutation({
    mutationFn: async () => {
      const body = { environments: wanted.map((name) => ({ name })) };
      if (id === null) return await traceApi.POST("/api/v1/hub/environments", { body });
      const params = { path: { environments_id: id } };
      return await traceApi.PATCH("/api/v1/hub/environments/{environments_id}", { params, body });
    },
    onSuccess: async () => {
      await refresh();
      notifyDone("Environments saved");
    },
    onError: notifyFailure("Could not save the environments"),
  });
  const reset = useMutation({
    mutationFn: () =>
      traceApi.DELETE("/api/v1/hub/environments/{environments_id}", { params: { path: { environments_id: id! } } }),
    onSuccess: refresh,
    onError: notifyFailure("Could not restore the default environments"),
  });
  return (
    <section aria-label="Environments">
      <Text component="h2" fw={600}>
        Environments
      </Text>
      <Text size="sm" c="dimmed" mb="xs">
        Tags that every prompt&apos;s page offers, at most four. A prompt keeps tags whose environment is removed.
      </Text>
      <TagsInput
        label="Names"
        maxTags={4}
        acceptValueOnBlur
        value={wanted}
        onChange={setWanted}
        readOnly={denial !== null}
      />
      <Group gap="xs" mt="xs">
        <PermittedButton
          denial={denial}
          size="xs"
          disabled={wanted.join() === names.join()}
          loading={save.isPending}
          onClick={() => save.mutate()}
        >
          Save
        </PermittedButton>
        {id !== null && denial === null && (
          <Button size="xs" variant="default" loading={reset.isPending} onClick={() => reset.mutate()}>
            Restore defaults
          </Button>
        )}
      </Group>
    </section>
  );
}
