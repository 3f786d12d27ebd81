import { Box, Button, Group, Text, Textarea } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { traceApi } from "../../api/clients.ts";
import { usePermission } from "../settings/use-permission.ts";
import { Content } from "../../ui/messages/content.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { PermittedButton } from "../../ui/permitted-button.tsx";
import { promptKey, type PromptName, type PromptRow } from "./queries.ts";

/** README of a prompt, with a form to edit it. */
export function Readme({ prompt, name }: { prompt: PromptRow; name: PromptName }) {
  const client = useQueryClient();
  const denial = usePermission("prompts:update");
  const [text, setText] = useState<string | null>(null);
  const save = useMutation({
    mutationFn: (readme: string) =>
      traceApi.PATCH("/api/v1/repos/{owner}/{repo}", { params: { path: name }, body: { readme } }),
    onError: notifyFailure("Could not save the README"),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: promptKey(name) });
      setText(null);
    },
  });
  if (text !== null) {
    return (
      <Box maw={860}>
        <Textarea
          label="README"
          description="Markdown"
          autosize
          minRows={10}
          maxRows={30}
          value={text}
          onChange={({ currentTarget: { value } }) => setText(value)}
          autoFocus
        />
        <Group justify="flex-end" gap="xs" mt="sm">
          <Button variant="default" onClick={() => setText(null)}>
            Cancel
          </Button>
          <Button loading={save.isPending} onClick={() => save.mutate(text)}>
            Save
          </Button>
        </Group>
      </Box>
    );
  }
  return (
    <Box maw={860}>
      <Group justify="flex-end" mb="xs">
        <PermittedButton denial={denial} size="xs" variant="default" onClick={() => setText(prompt.readme ?? "")}>
          Edit README
        </PermittedButton>
      </Group>
      {prompt.readme ? (
        <Content content={prompt.readme} />
      ) : (
        <Text size="sm" c="dimmed">
          No README yet.
        </Text>
      )}
    </Box>
  );
}
