import { Select } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";

import { relativeTime } from "../../ui/format.ts";
import { useNow } from "../../ui/use-now.ts";
import { commitsQuery, type PromptName, promptTagsQuery, shortHash } from "./queries.ts";

interface CommitSelectProps {
  label: string;
  name: PromptName;
  /** Tag or hash; empty: the newest commit. */
  value: string;
  /** Option for an empty value; absent where a commit must be selected. */
  empty?: string | null;
  /** Whether tags are offered beside commits. */
  hasTags?: boolean;
  onChange: (value: string) => void;
}

/** Select for a commit, by its tag or its hash. */
export function CommitSelect({
  label,
  name,
  value,
  empty = "Newest commit",
  hasTags = true,
  ...props
}: CommitSelectProps) {
  const now = useNow();
  const { data } = useInfiniteQuery(commitsQuery(name));
  const { data: tags = [] } = useQuery(promptTagsQuery(name));
  const commits = data?.pages.flatMap((page) => page.commits ?? []) ?? [];
  const hashes = commits.map(({ commit_hash: hash }) => hash!);
  const tagNames = hasTags ? tags.map(({ tag_name: tag }) => tag) : [];
  // an abbreviated hash, or a commit of an older page
  const selected = hashes.find((hash) => value.length >= 8 && hash.startsWith(value)) ?? value;
  const isKnown = selected === "" || hashes.includes(selected) || tagNames.includes(selected);
  const groups = [
    ...(empty === null ? [] : [{ value: "", label: empty }]),
    ...(isKnown ? [] : [{ value: selected, label: /^[0-9a-f]{8,}$/.test(selected) ? shortHash(selected) : selected }]),
    ...(tagNames.length > 0
      ? [
          {
            group: "Tags",
            items: tags.map((tag) => ({
              value: tag.tag_name,
              label: `${tag.tag_name} (${shortHash(tag.commit_hash)})`,
            })),
          },
        ]
      : []),
    {
      group: "Commits",
      items: commits.map(({ commit_hash: hash, description, created_at: at }) => ({
        value: hash!,
        label: [shortHash(hash), description?.slice(0, 60), at ? relativeTime(at, now) : null]
          .filter(Boolean)
          .join(" · "),
      })),
    },
  ];
  return (
    <Select
      label={label}
      size="xs"
      w={{ base: "100%", xs: 360 }}
      searchable
      allowDeselect={false}
      maxDropdownHeight={320}
      data={groups}
      value={selected}
      onChange={(next) => props.onChange(String(next ?? ""))}
    />
  );
}
