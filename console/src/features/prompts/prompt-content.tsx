import { Badge, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useMemo } from "react";

import { CopyButton } from "../../ui/copy-button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { Loading } from "../../ui/loading.tsx";
import { PromptSample, PullSample } from "../samples/sample-parts.tsx";
import { CommitSelect } from "./commit-select.tsx";
import { PlaygroundTries } from "./playground-tries.tsx";
import { readPrompt } from "./manifest.ts";
import { ModelView } from "./model-view.tsx";
import { PromptView, Variables } from "./prompt-view.tsx";
import classes from "./prompts.module.css";
import type { OnePromptSearch } from "./prompt-search.ts";
import { commitQuery, type PromptName, type PromptRow, promptTagsQuery, pullName, shortHash } from "./queries.ts";

const Directory = lazy(async () => ({ default: (await import("./directory.tsx")).Directory }));

interface PromptContentProps {
  prompt: PromptRow;
  name: PromptName;
  search: OnePromptSearch;
  onChange: (changes: Partial<OnePromptSearch>) => void;
}

/** Content of the selected commit, or of the newest. */
export function PromptContent({ prompt, name, search, onChange }: PromptContentProps) {
  if (prompt.num_commits === 0) {
    return (
      <Empty title="No commits yet">
        <Text size="sm">Push the first one:</Text>
        <PromptSample name={pullName(name)} />
      </Empty>
    );
  }
  return (
    <>
      <Group gap="xs" mb="sm">
        <CommitSelect
          label="Commit"
          name={name}
          value={search.commit}
          onChange={(commit) => onChange({ commit, file: "" })}
        />
      </Group>
      {prompt.repo_type === "prompt" ? (
        <Content name={name} commit={search.commit || "latest"} />
      ) : (
        <Suspense fallback={<Loading rows={8} />}>
          <Directory
            name={name}
            commit={search.commit || "latest"}
            file={search.file}
            onFile={(file) => onChange({ file })}
          />
        </Suspense>
      )}
    </>
  );
}

function Content({ name, commit }: { name: PromptName; commit: string }) {
  const { data: found, error, refetch } = useQuery(commitQuery(name, commit));
  const { data: tags = [] } = useQuery(promptTagsQuery(name));
  const prompt = useMemo(() => (found ? readPrompt(found.manifest) : null), [found]);
  if (found === null) return <Text size="sm">The prompt has no commits.</Text>;
  if (!found || !prompt)
    return <LoadState query={{ error, refetch }} rows={8} title={`Commit ${commit} was not found`} />;
  const hash = found.commit_hash ?? "";
  const here = tags.filter((tag) => tag.commit_hash === hash);
  const pulled = here.find(({ tag_name: tag }) => tag === commit) ?? here[0];
  return (
    <div className={classes["sides"]}>
      <section aria-label="Messages">
        <PromptView prompt={prompt} manifest={found.manifest} />
      </section>
      <Stack gap="md" component="aside" aria-label="Details">
        <Part title="Commit">
          <Group gap={6}>
            <Text size="sm" ff="monospace" title={hash}>
              {shortHash(hash)}
            </Text>
            <CopyButton value={hash} label="Copy commit hash" />
            {here.map(({ tag_name: tag }) => (
              <Badge key={tag} size="sm" variant="light" tt="none">
                {tag}
              </Badge>
            ))}
          </Group>
          {found.description && (
            <Text size="sm" style={{ overflowWrap: "anywhere" }}>
              {found.description}
            </Text>
          )}
          <AnchorLink to="/prompts/$owner/$repo" params={name} search={{ tab: "compare", to: hash }} size="sm">
            Compare with another commit
          </AnchorLink>
        </Part>
        <Part title="Variables">
          <Variables variables={prompt.variables} partials={prompt.partials} />
        </Part>
        {prompt.model && (
          <Part title="Model">
            <ModelView model={prompt.model} />
          </Part>
        )}
        <Part title="Use in code">
          <PullSample name={pullName(name)} version={pulled?.tag_name ?? shortHash(hash)} />
        </Part>
        <PlaygroundTries hash={hash} />
      </Stack>
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <Title order={2} size="h6" mb={4}>
        {title}
      </Title>
      <Stack gap={4} align="flex-start">
        {children}
      </Stack>
    </section>
  );
}
