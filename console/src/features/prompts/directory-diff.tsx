import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { DiffView } from "../../ui/diff-view.tsx";
import { isSame } from "../../ui/json-diff.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { WordDiff } from "../../ui/word-diff.tsx";
import { fileText } from "./file-text.ts";
import { MessageFrame } from "./prompt-view.tsx";
import { directoryQuery, type PromptName } from "./queries.ts";

type Files = Record<string, unknown>;

/** Differences between the files of two commits. */
export function DirectoryDiff({ name, from, to }: { name: PromptName; from: string; to: string }) {
  const before = useQuery(directoryQuery(name, from));
  const after = useQuery(directoryQuery(name, to));
  if (!before.data || !after.data) return <LoadState query={[before, after]} rows={6} />;
  const [a, b] = [(before.data.files ?? {}) as Files, (after.data.files ?? {}) as Files];
  const paths = [...new Set([...Object.keys(a), ...Object.keys(b)])].toSorted();
  const changed = paths.filter((path) => !isSame(a[path], b[path]));
  return (
    <section aria-label="Differences">
      <Stack gap="xs">
        {changed.length === 0 && (
          <Text size="sm" c="dimmed">
            The two commits have the same files.
          </Text>
        )}
        {changed.map((path) => {
          const [old, fresh] = [fileText(a[path]), fileText(b[path])];
          const change = !(path in a) ? "added" : !(path in b) ? "removed" : undefined;
          return (
            <MessageFrame key={path} label={path} change={change}>
              {old === null && fresh === null ? (
                <DiffView before={a[path]} after={b[path]} />
              ) : (
                <WordDiff before={old ?? ""} after={fresh ?? ""} />
              )}
            </MessageFrame>
          );
        })}
      </Stack>
    </section>
  );
}
