import { Button, Divider, Group, Stack, TagsInput, Text, Textarea, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";

import { traceApi } from "../../api/clients.ts";
import { ResourceTags } from "../resource-tags/resource-tags.tsx";
import { usePermission } from "../settings/use-permission.ts";
import { useConfirm } from "../../ui/confirm.tsx";
import { counted } from "../../ui/format.ts";
import { notifyDone, notifyFailure } from "../../ui/notify.ts";
import { PermittedButton } from "../../ui/permitted-button.tsx";
import { PublicSwitch } from "./public-switch.tsx";
import { promptKey, type PromptName, type PromptRow, promptTagNamesQuery } from "./queries.ts";

/** Description, tags and visibility of a prompt, its archive, and its deletion. */
export function PromptSettings({ prompt, name }: { prompt: PromptRow; name: PromptName }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { confirm, dialog } = useConfirm();
  const { data: known = [] } = useQuery(promptTagNamesQuery);
  const updateDenial = usePermission("prompts:update");
  const deleteDenial = usePermission("prompts:delete");
  const form = useForm({
    initialValues: { description: prompt.description ?? "", tags: prompt.tags, isPublic: prompt.is_public },
  });
  const refresh = async () => {
    await client.invalidateQueries({ queryKey: promptKey(name) });
    await client.invalidateQueries({ queryKey: ["prompts"] });
  };
  const path = "/api/v1/repos/{owner}/{repo}";
  const params = { path: name };
  const save = useMutation({
    mutationFn: ({ description, tags, isPublic }: typeof form.values) =>
      traceApi.PATCH(path, { params, body: { description: description.trim(), tags, is_public: isPublic } }),
    onSuccess: async () => {
      await refresh();
      form.resetDirty();
      notifyDone("Settings saved");
    },
    onError: notifyFailure("Could not save the settings"),
  });
  const archive = useMutation({
    mutationFn: (isArchived: boolean) => traceApi.PATCH(path, { params, body: { is_archived: isArchived } }),
    onSuccess: refresh,
    onError: notifyFailure("Could not change the prompt"),
  });
  const remove = () =>
    confirm({
      title: `Delete ${prompt.repo_handle}?`,
      body: `This permanently deletes its ${counted(prompt.num_commits, "commit")}, tags and history. Code that pulls it fails.`,
      action: "Delete",
      typed: prompt.repo_handle,
      async run() {
        await traceApi.DELETE(path, { params });
        await navigate({ to: "/prompts" });
        client.removeQueries({ queryKey: promptKey(name) });
        await client.invalidateQueries({ queryKey: ["prompts"] });
      },
    });
  return (
    <Stack gap="md" maw={640}>
      <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
        <Stack gap="sm">
          <Textarea label="Description" autosize minRows={2} maxRows={8} {...form.getInputProps("description")} />
          <TagsInput
            label="Tags"
            description="For search and filters. Tags of commits are under Tags."
            data={known.map(({ tag }) => tag)}
            acceptValueOnBlur
            {...form.getInputProps("tags")}
          />
          <PublicSwitch
            checked={form.values.isPublic}
            onChange={(checked) => form.setFieldValue("isPublic", checked)}
          />
          <Group>
            {updateDenial === null ? (
              <Button type="submit" size="xs" disabled={!form.isDirty()} loading={save.isPending}>
                Save
              </Button>
            ) : (
              <PermittedButton denial={updateDenial} size="xs">
                Save
              </PermittedButton>
            )}
          </Group>
        </Stack>
      </form>
      <ResourceTags resource_type="prompt" resource_id={prompt.id} permission="prompts:update" />
      <Divider />
      <section aria-label="Archive">
        <Title order={2} size="h6" mb={4}>
          {prompt.is_archived ? "Restore" : "Archive"}
        </Title>
        <Text size="sm" mb="xs">
          {prompt.is_archived
            ? "Lists show the prompt again."
            : "Lists leave an archived prompt out. It can still be pulled."}
        </Text>
        <PermittedButton
          denial={updateDenial}
          size="xs"
          variant="default"
          loading={archive.isPending}
          onClick={() => archive.mutate(!prompt.is_archived)}
        >
          {prompt.is_archived ? "Restore" : "Archive"}
        </PermittedButton>
      </section>
      <section aria-label="Delete">
        <Title order={2} size="h6" mb={4}>
          Delete
        </Title>
        <Text size="sm" mb="xs">
          Deletes the prompt with all commits and tags. A prompt cannot be renamed; to change its name, fork it.
        </Text>
        <PermittedButton denial={deleteDenial} size="xs" variant="default" onClick={remove}>
          Delete prompt
        </PermittedButton>
      </section>
      {dialog}
    </Stack>
  );
}
