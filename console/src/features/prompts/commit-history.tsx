import { Button, Group, Text } from "@mantine/core";
import { IconGitCompare, IconTag } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { usePermission } from "../settings/use-permission.ts";
import { Empty } from "../../ui/empty.tsx";
import { LoadedList } from "../../ui/load-state.tsx";
import { PermittedButton } from "../../ui/permitted-button.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { CommitLink } from "./commit-link.tsx";
import { CommitTags } from "./commit-tags.tsx";
import { MoveTagForm } from "./move-tag-form.tsx";
import type { OnePromptSearch } from "./prompt-search.ts";
import { type Commit, commitsQuery, type PromptName, type PromptRow, promptTagsQuery } from "./queries.ts";

interface CommitHistoryProps {
  prompt: PromptRow;
  name: PromptName;
  onChange: (changes: Partial<OnePromptSearch>) => void;
}

/** All commits, newest first, with their authors, messages, parents and tags. */
export function CommitHistory({ prompt, name, onChange }: CommitHistoryProps) {
  const found = useInfiniteQuery(commitsQuery(name));
  const { data: tags = [] } = useQuery(promptTagsQuery(name));
  const [tagged, setTagged] = useState<Commit | null>(null);
  const denial = usePermission("prompts:tag");
  const rows = found.data?.pages.flatMap(({ commits }) => commits ?? []) ?? [];
  return (
    <>
      <LoadedList query={found} rows={6} list={rows} empty={<Empty title="No commits yet" />}>
        <SimpleTable
          label="Commits"
          rows={rows}
          rowKey={({ commit_hash: hash }) => hash!}
          minWidth={900}
          columns={[
            { title: "Commit", cell: ({ commit_hash: hash }) => <CommitLink name={name} hash={hash} />, width: 100 },
            {
              title: "Message",
              cell: ({ description, commit_hash: hash }) => (
                <Group gap={6}>
                  <Text size="sm">{description || "No message"}</Text>
                  <CommitTags tags={tags} hash={hash} />
                </Group>
              ),
            },
            { title: "Author", cell: ({ full_name: author }) => <Text size="sm">{author || "–"}</Text>, width: 150 },
            {
              title: "Parent",
              cell: ({ parent_commit_hash: hash }) => <CommitLink name={name} hash={hash} />,
              width: 100,
            },
            { title: "Created", cell: ({ created_at: at }) => <TimeText at={at} />, width: 100 },
            {
              title: "",
              cell: (commit) => (
                <Group gap={6} justify="flex-end">
                  {commit.parent_commit_hash && (
                    <Button
                      size="compact-xs"
                      variant="default"
                      leftSection={<IconGitCompare size={12} aria-hidden />}
                      onClick={() =>
                        onChange({ tab: "compare", from: commit.parent_commit_hash!, to: commit.commit_hash! })
                      }
                    >
                      View changes
                    </Button>
                  )}
                  <PermittedButton
                    denial={denial}
                    size="compact-xs"
                    variant="default"
                    leftSection={<IconTag size={12} aria-hidden />}
                    onClick={() => setTagged(commit)}
                  >
                    Tag
                  </PermittedButton>
                </Group>
              ),
              width: 230,
            },
          ]}
          pages={found}
        />
      </LoadedList>
      {tagged && (
        <MoveTagForm
          prompt={prompt}
          name={name}
          commit={tagged.commit_hash!}
          tags={tags}
          onClose={() => setTagged(null)}
        />
      )}
    </>
  );
}
