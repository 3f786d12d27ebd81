import { Group, Text, UnstyledButton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { CopyButton } from "../../ui/copy-button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { bytes } from "../../ui/format.ts";
import { LazyJson } from "../../ui/lazy-json.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { Content } from "../../ui/messages/content.tsx";
import classes from "./prompts.module.css";
import { directoryQuery, type PromptName, shortHash } from "./queries.ts";
import { fileText } from "./file-text.ts";

interface DirectoryProps {
  name: PromptName;
  commit: string;
  /** Path of the shown file; empty: the first. */
  file: string;
  onFile: (path: string) => void;
}

/** Files of an agent or a skill at a commit. */
export function Directory({ name, commit, file, onFile }: DirectoryProps) {
  const { data: found, error, refetch } = useQuery(directoryQuery(name, commit));
  if (!found) return <LoadState query={{ error, refetch }} rows={8} />;
  const files = Object.entries((found.files ?? {}) as Record<string, unknown>).toSorted(([a], [b]) =>
    a.localeCompare(b, "en"),
  );
  if (files.length === 0) return <Empty title="No files" />;
  const [path, value] = files.find(([candidate]) => candidate === file) ?? files[0]!;
  const text = fileText(value);
  return (
    <div className={classes["files"]}>
      <nav aria-label="Files">
        {files.map(([candidate]) => (
          <UnstyledButton
            key={candidate}
            className={classes["file"]}
            aria-current={candidate === path}
            onClick={() => onFile(candidate)}
          >
            {candidate}
          </UnstyledButton>
        ))}
        <Text size="xs" c="dimmed" mt="xs" px={8}>
          Commit {shortHash(found.commit_hash)}
        </Text>
      </nav>
      <section aria-label={path} style={{ minWidth: 0 }}>
        <Group gap={6} mb="xs">
          <Text size="sm" ff="monospace" style={{ overflowWrap: "anywhere" }}>
            {path}
          </Text>
          {text !== null && (
            <>
              <Text size="xs" c="dimmed">
                {bytes(new TextEncoder().encode(text).length)}
              </Text>
              <CopyButton value={text} label="Copy file" />
            </>
          )}
        </Group>
        {text === null ? (
          <LazyJson value={value} label={path} />
        ) : (
          <Content content={text} isPlain={!/\.(md|mdx)$/i.test(path)} />
        )}
      </section>
    </div>
  );
}
