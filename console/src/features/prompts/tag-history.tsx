import { Group, Text } from "@mantine/core";
import { IconArrowBackUp } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { traceApi } from "../../api/clients.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { notifyDone, notifyFailure } from "../../ui/notify.ts";
import { PermittedButton } from "../../ui/permitted-button.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { CommitLink } from "./commit-link.tsx";
import { promptKey, type PromptName, type PromptTag, shortHash, tagHistoryQuery, type TagMove } from "./queries.ts";

interface TagHistoryProps {
  name: PromptName;
  tagName: string;
  /** Absent while the tag names no commit. */
  tag: PromptTag | undefined;
  denial: string | null;
}

/** Moves of a tag, newest first; a click moves it back to the commit that it named before. */
export function TagHistory({ name, tagName, tag, denial }: TagHistoryProps) {
  const client = useQueryClient();
  const { data: moves, error, refetch } = useQuery(tagHistoryQuery(name, tagName));
  const rollBack = useMutation({
    mutationFn: ({ to_commit_id: id }: TagMove) => {
      const path = { ...name, tag_name: tagName };
      const body = { commit_id: id! };
      return tag
        ? traceApi.PATCH("/api/v1/repos/{owner}/{repo}/tags/{tag_name}", { params: { path }, body })
        : traceApi.POST("/api/v1/repos/{owner}/{repo}/tags", {
            params: { path: name },
            body: { ...body, tag_name: tagName },
          });
    },
    onSuccess(_, { to_commit_hash: hash }) {
      const from = tag ? ` from ${shortHash(tag.commit_hash)}` : "";
      notifyDone(`${tagName} moved${from} back to ${shortHash(hash)}`);
      return client.invalidateQueries({ queryKey: promptKey(name) });
    },
    onError: notifyFailure(`Could not move ${tagName}`),
  });
  if (!moves) return <LoadState query={{ error, refetch }} rows={3} />;
  if (moves.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        This tag has not been set yet.
      </Text>
    );
  }
  return (
    <SimpleTable
      label={`Moves of ${tagName}`}
      rows={moves}
      rowKey={({ id }) => id!}
      minWidth={760}
      columns={[
        { title: "Time", cell: ({ created_at: at }) => <TimeText at={at} />, width: 110 },
        { title: "From", cell: ({ from_commit_hash: hash }) => <CommitLink name={name} hash={hash} />, width: 110 },
        { title: "To", cell: ({ to_commit_hash: hash }) => <CommitLink name={name} hash={hash} />, width: 110 },
        {
          title: "By",
          cell: (move) => <Text size="sm">{move.performed_by_name || move.performed_by || "–"}</Text>,
        },
        {
          title: "",
          cell: (move) => (
            <Group gap={6} justify="flex-end">
              {move.from_commit_hash && move.to_commit_hash && (
                <AnchorLink
                  to="/prompts/$owner/$repo"
                  params={name}
                  search={{ tab: "compare", from: move.from_commit_hash, to: move.to_commit_hash }}
                  size="sm"
                >
                  View changes
                </AnchorLink>
              )}
              {move.to_commit_hash && move.to_commit_hash !== tag?.commit_hash && (
                <PermittedButton
                  denial={denial}
                  size="compact-xs"
                  variant="default"
                  leftSection={<IconArrowBackUp size={12} aria-hidden />}
                  loading={rollBack.isPending && rollBack.variables.id === move.id}
                  onClick={() => rollBack.mutate(move)}
                >
                  Roll back to {shortHash(move.to_commit_hash)}
                </PermittedButton>
              )}
            </Group>
          ),
          width: 290,
        },
      ]}
    />
  );
}
