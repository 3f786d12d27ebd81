import { Title } from "@mantine/core";

import type { ChartMarker } from "../../ui/chart-props.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { CommitLink } from "../prompts/commit-link.tsx";
import { shortHash } from "../prompts/queries.ts";
import type { TagMove } from "./queries.ts";

export const toMarker = (move: TagMove): ChartMarker => ({
  time: Date.parse(move.changed_at) / 1000,
  label: `${move.repo_handle}:${move.tag_name} → ${shortHash(move.to_commit_hash)}`,
});

/** Moves of prompts' tags in the range, which the charts show as vertical lines. */
export function TagMoves({ moves }: { moves: TagMove[] }) {
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Prompt tags moved
      </Title>
      <SimpleTable
        label="Prompt tags moved"
        rows={moves}
        rowKey={(move) => `${move.repo_handle} ${move.tag_name} ${move.changed_at}`}
        minWidth={620}
        columns={[
          { title: "Time", cell: ({ changed_at: at }) => <TimeText at={at} />, width: 110 },
          {
            title: "Tag",
            cell: (move) => (
              <AnchorLink
                to="/prompts/$owner/$repo"
                params={{ owner: "-", repo: move.repo_handle }}
                search={{ tab: "tags" }}
                size="sm"
              >
                {move.repo_handle}:{move.tag_name}
              </AnchorLink>
            ),
          },
          {
            title: "From",
            cell: (move) => <CommitLink name={{ owner: "-", repo: move.repo_handle }} hash={move.from_commit_hash} />,
            width: 120,
          },
          {
            title: "To",
            cell: (move) => <CommitLink name={{ owner: "-", repo: move.repo_handle }} hash={move.to_commit_hash} />,
            width: 120,
          },
          { title: "By", cell: ({ changed_by: by }) => by ?? "–", width: 200 },
        ]}
      />
    </section>
  );
}
