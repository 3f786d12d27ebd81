import { ActionIcon, Group, Text, Tooltip } from "@mantine/core";
import { IconArrowsExchange } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";

import { LoadState } from "../../ui/load-state.tsx";
import { Loading } from "../../ui/loading.tsx";
import { CommitSelect } from "./commit-select.tsx";
import { PromptDiff } from "./prompt-diff.tsx";
import type { OnePromptSearch } from "./prompt-search.ts";
import { commitQuery, commitsQuery, type PromptName, type PromptRow, shortHash } from "./queries.ts";

const DirectoryDiff = lazy(async () => ({ default: (await import("./directory-diff.tsx")).DirectoryDiff }));

interface CompareCommitsProps {
  prompt: PromptRow;
  name: PromptName;
  search: OnePromptSearch;
  onChange: (changes: Partial<OnePromptSearch>) => void;
}

/** Differences between any two commits; by default between the newest and its parent. */
export function CompareCommits({ prompt, name, search, onChange }: CompareCommitsProps) {
  const { data } = useInfiniteQuery(commitsQuery(name));
  const commits = data?.pages.flatMap((page) => page.commits ?? []) ?? [];
  const to = search.to || (commits[0]?.commit_hash ?? "");
  const parent = commits.find(({ commit_hash: hash }) => hash === to)?.parent_commit_hash;
  const from = search.from || parent || "";
  if (!data) return <Loading rows={8} />;
  return (
    <>
      <Group gap="xs" mb="md" align="flex-end">
        <CommitSelect
          label="From"
          name={name}
          value={from}
          empty={from === "" ? "Select a commit" : null}
          onChange={(value) => onChange({ from: value, to })}
        />
        <Tooltip label="Swap">
          <ActionIcon
            variant="default"
            size={30}
            aria-label="Swap the commits"
            disabled={from === "" || to === ""}
            onClick={() => onChange({ from: to, to: from })}
          >
            <IconArrowsExchange size={14} />
          </ActionIcon>
        </Tooltip>
        <CommitSelect
          label="To"
          name={name}
          value={to}
          empty={to === "" ? "Select a commit" : null}
          onChange={(value) => onChange({ from, to: value })}
        />
      </Group>
      {from === "" || to === "" ? (
        <Text size="sm" c="dimmed">
          {commits.length < 2 ? "There is only one commit so far." : "Select two commits to compare them."}
        </Text>
      ) : prompt.repo_type === "prompt" ? (
        <Differences name={name} from={from} to={to} />
      ) : (
        <Suspense fallback={<Loading rows={8} />}>
          <DirectoryDiff name={name} from={from} to={to} />
        </Suspense>
      )}
    </>
  );
}

const label = (commit: string): string => (/^[0-9a-f]{8,}$/.test(commit) ? shortHash(commit) : commit);

/** Differences between the contents of two commits. */
export function Differences({ name, from, to }: { name: PromptName; from: string; to: string }) {
  const before = useQuery(commitQuery(name, from));
  const after = useQuery(commitQuery(name, to));
  if (before.data === undefined || after.data === undefined) return <LoadState query={[before, after]} rows={6} />;
  if (before.data === null || after.data === null) return <Text size="sm">The prompt has no commits.</Text>;
  return (
    <section aria-label="Differences">
      <PromptDiff before={before.data.manifest} after={after.data.manifest} names={[label(from), label(to)]} />
    </section>
  );
}
