import { Alert, Button, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { PromptDiff } from "./prompt-diff.tsx";
import { commitQuery, type PromptName, shortHash } from "./queries.ts";
import { LoadState } from "../../ui/load-state.tsx";

interface CommitConflictProps {
  name: PromptName;
  /** Commit that the edit began with. */
  base: string | null;
  /** Edited manifest. */
  mine: unknown;
  isSaving: boolean;
  onBack: () => void;
  onDiscard: () => void;
  /** Commits on top of the newest commit; null: as the first one. */
  onCommit: (newest: string | null) => void;
}

/** Shows the commit that was created during the edit, and lets the user decide between it and the edit. */
export function CommitConflict({ name, base, mine, isSaving, onBack, onDiscard, onCommit }: CommitConflictProps) {
  const newest = useQuery(commitQuery(name, "latest"));
  const before = useQuery({ ...commitQuery(name, base ?? ""), enabled: base !== null });
  if (newest.data === undefined || (base !== null && before.data === undefined))
    return <LoadState query={[newest, before]} rows={6} />;
  const hash = newest.data?.commit_hash ?? null;
  return (
    <Stack gap="sm">
      <Alert color="warning" role="alert">
        <Text size="sm" fw={600}>
          {newest.data ? "The prompt has a newer commit" : "The prompt has no commits any more"}
        </Text>
        {newest.data &&
          `${shortHash(hash)}${newest.data.description ? ` (${newest.data.description})` : ""} was committed while you edited. Nothing was overwritten.`}
      </Alert>
      {newest.data && (
        <section aria-label="Newer commit">
          <Title order={2} size="h6" mb={4}>
            Changes of the newer commit
          </Title>
          <PromptDiff
            before={before.data?.manifest ?? null}
            after={newest.data.manifest}
            names={[shortHash(base), shortHash(hash)]}
          />
        </section>
      )}
      <section aria-label="Your version">
        <Title order={2} size="h6" mb={4}>
          Your version{newest.data && ", compared with it"}
        </Title>
        <PromptDiff before={newest.data?.manifest ?? null} after={mine} names={[shortHash(hash), "your version"]} />
      </section>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onDiscard}>
          Discard my version
        </Button>
        <Button variant="default" onClick={onBack}>
          Continue editing
        </Button>
        <Button loading={isSaving} onClick={() => onCommit(hash)}>
          Commit my version{hash !== null && ` on top of ${shortHash(hash)}`}
        </Button>
      </Group>
    </Stack>
  );
}
