import { Badge, Button, Group, Stack, Text, Title } from "@mantine/core";
import { IconArrowRight, IconHistory, IconTrash } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { traceApi } from "../../api/clients.ts";
import { usePermission } from "../settings/use-permission.ts";
import { useConfirm } from "../../ui/confirm.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { NewButton } from "../../ui/new-button.tsx";
import { PermittedButton } from "../../ui/permitted-button.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { CommitLink } from "./commit-link.tsx";
import { MoveTagForm } from "./move-tag-form.tsx";
import {
  environmentsQuery,
  promptKey,
  type PromptName,
  type PromptRow,
  type PromptTag,
  promptTagsQuery,
} from "./queries.ts";
import { TagHistory } from "./tag-history.tsx";

interface TagRow {
  name: string;
  isEnvironment: boolean;
  /** Absent for an environment without a commit. */
  tag: PromptTag | undefined;
}

/** Environments and other tags, each with its commit and the history of its moves. */
export function PromptTags({ prompt, name }: { prompt: PromptRow; name: PromptName }) {
  const client = useQueryClient();
  const found = useQuery(promptTagsQuery(name));
  const environments = useQuery(environmentsQuery);
  const { confirm, dialog } = useConfirm();
  const [moved, setMoved] = useState<string | null>(null);
  const [selected, setSelected] = useState<string | null>(null);
  const denial = usePermission("prompts:tag");
  const tags = found.data;
  if (!tags || !environments.data) return <LoadState query={[found, environments]} rows={4} />;
  const { names } = environments.data;
  const rows: TagRow[] = [
    ...names.map((tag) => ({ name: tag, isEnvironment: true, tag: tags.find((one) => one.tag_name === tag) })),
    ...tags
      .filter(({ tag_name: tag }) => !names.includes(tag))
      .map((tag) => ({ name: tag.tag_name, isEnvironment: false, tag })),
  ];
  const shown = selected ?? rows.find(({ tag }) => tag !== undefined)?.name ?? null;
  const remove = (tag: PromptTag) =>
    confirm({
      title: `Delete the tag ${tag.tag_name}?`,
      body: `Code that pulls ${prompt.repo_handle}:${tag.tag_name} fails. The commit is kept.`,
      action: "Delete",
      async run() {
        const params = { path: { ...name, tag_name: tag.tag_name } };
        await traceApi.DELETE("/api/v1/repos/{owner}/{repo}/tags/{tag_name}", { params });
        await client.invalidateQueries({ queryKey: promptKey(name) });
      },
    });
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          A tag names a commit. Code that pulls by the tag uses the new commit after a move, without a deployment.
        </Text>
        <NewButton denial={denial} onClick={() => setMoved("")}>
          New tag
        </NewButton>
      </Group>
      <SimpleTable
        label="Tags"
        rows={rows}
        rowKey={(row) => row.name}
        minWidth={760}
        columns={[
          {
            title: "Tag",
            cell: (row) => (
              <Group gap={6}>
                <Text size="sm" fw={500}>
                  {row.name}
                </Text>
                {row.isEnvironment && (
                  <Badge size="sm" variant="default" tt="none" fw={500}>
                    environment
                  </Badge>
                )}
              </Group>
            ),
          },
          {
            title: "Commit",
            cell: ({ tag }) =>
              tag ? (
                <CommitLink name={name} hash={tag.commit_hash} />
              ) : (
                <Text size="sm" c="dimmed">
                  Not set
                </Text>
              ),
            width: 130,
          },
          { title: "Moved", cell: ({ tag }) => tag && <TimeText at={tag.updated_at} />, width: 110 },
          {
            title: "",
            cell: (row) => (
              <Group gap={6} justify="flex-end">
                <PermittedButton
                  denial={denial}
                  size="compact-xs"
                  variant="default"
                  leftSection={<IconArrowRight size={12} aria-hidden />}
                  aria-label={`${row.tag ? "Move" : "Set"} ${row.name}`}
                  onClick={() => setMoved(row.name)}
                >
                  {row.tag ? "Move" : "Set"}
                </PermittedButton>
                <Button
                  size="compact-xs"
                  variant="default"
                  leftSection={<IconHistory size={12} aria-hidden />}
                  aria-label={`History of ${row.name}`}
                  aria-pressed={shown === row.name}
                  onClick={() => setSelected(row.name)}
                >
                  History
                </Button>
                {row.tag && (
                  <PermittedButton
                    denial={denial}
                    size="compact-xs"
                    variant="default"
                    leftSection={<IconTrash size={12} aria-hidden />}
                    aria-label={`Delete ${row.name}`}
                    onClick={() => remove(row.tag!)}
                  >
                    Delete
                  </PermittedButton>
                )}
              </Group>
            ),
            width: 290,
          },
        ]}
      />
      {shown !== null && (
        <section aria-label={`History of ${shown}`}>
          <Title order={2} size="h6" mb={6}>
            History of {shown}
          </Title>
          <TagHistory
            key={shown}
            name={name}
            tagName={shown}
            tag={tags.find(({ tag_name: tag }) => tag === shown)}
            denial={denial}
          />
        </section>
      )}
      {moved !== null && (
        <MoveTagForm
          prompt={prompt}
          name={name}
          tags={tags}
          tagName={moved === "" ? undefined : moved}
          onClose={() => setMoved(null)}
        />
      )}
      {dialog}
    </Stack>
  );
}
