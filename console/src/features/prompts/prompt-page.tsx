import { Alert, Badge, Breadcrumbs, Group, Tabs, Text } from "@mantine/core";
import { IconGitFork, IconPencil, IconPlayerPlay } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";

import { RunExperimentButton } from "../experiment-runs/run-experiment-button.tsx";
import { usePermission } from "../settings/use-permission.ts";
import { counted } from "../../ui/format.ts";
import { AnchorLink, ButtonLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { Page } from "../../ui/page.tsx";
import { PermittedButton } from "../../ui/permitted-button.tsx";
import { TabList } from "../../ui/tab-list.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { CommitHistory } from "./commit-history.tsx";
import { CompareCommits } from "./compare-commits.tsx";
import { ForkForm } from "./fork-form.tsx";
import { ONE_PROMPT_SEARCH, type OnePromptSearch, type PromptTab } from "./prompt-search.ts";
import { CommitMetrics } from "./commit-metrics.tsx";
import { PromptContent } from "./prompt-content.tsx";
import { PromptSettings } from "./prompt-settings.tsx";
import { type PromptName, promptQuery, type PromptRow } from "./queries.ts";
import { Readme } from "./readme.tsx";
import { PromptTags } from "./prompt-tags.tsx";

const EditPrompt = lazy(async () => ({ default: (await import("./edit-prompt.tsx")).EditPrompt }));

const TITLES: Record<PromptTab, string> = {
  prompt: "Prompt",
  commits: "Commits",
  compare: "Compare",
  tags: "Tags",
  metrics: "Metrics",
  readme: "README",
  settings: "Settings",
};

/** A prompt: its content at a commit, history, tags, metrics and settings. */
export function PromptPage() {
  const name: PromptName = useParams({ from: "/_shell/prompts/$owner/$repo" });
  const search: OnePromptSearch = { ...ONE_PROMPT_SEARCH, ...useSearch({ from: "/_shell/prompts/$owner/$repo" }) };
  const navigate = useNavigate({ from: "/prompts/$owner/$repo" });
  const { data: prompt, error, refetch } = useQuery(promptQuery(name));
  const [dialog, setDialog] = useState<"edit" | "fork" | null>(null);
  const change = (changes: Partial<OnePromptSearch>) => void navigate({ search: { ...search, ...changes } });
  const isDirectory = prompt !== undefined && prompt.repo_type !== "prompt";
  return (
    <Page
      title={prompt?.repo_handle ?? name.repo}
      actions={prompt && <Actions prompt={prompt} name={name} commit={search.commit} onOpen={setDialog} />}
    >
      <About prompt={prompt} name={name} />
      <Tabs value={search.tab} onChange={(tab) => change({ tab: (tab ?? "prompt") as PromptTab })} keepMounted={false}>
        <TabList mb="sm">
          {(Object.keys(TITLES) as PromptTab[]).map((tab) => (
            <Tabs.Tab key={tab} value={tab}>
              {tab === "prompt" && isDirectory ? "Files" : TITLES[tab]}
            </Tabs.Tab>
          ))}
        </TabList>
        {prompt === undefined ? (
          <LoadState query={{ error, refetch }} rows={8} />
        ) : (
          <>
            <Tabs.Panel value="prompt">
              <PromptContent prompt={prompt} name={name} search={search} onChange={change} />
            </Tabs.Panel>
            <Tabs.Panel value="commits">
              <CommitHistory prompt={prompt} name={name} onChange={change} />
            </Tabs.Panel>
            <Tabs.Panel value="compare">
              <CompareCommits prompt={prompt} name={name} search={search} onChange={change} />
            </Tabs.Panel>
            <Tabs.Panel value="tags">
              <PromptTags prompt={prompt} name={name} />
            </Tabs.Panel>
            <Tabs.Panel value="metrics">
              <CommitMetrics name={name} prompt={prompt} days={search.days} onDays={(days) => change({ days })} />
            </Tabs.Panel>
            <Tabs.Panel value="readme">
              <Readme prompt={prompt} name={name} />
            </Tabs.Panel>
            <Tabs.Panel value="settings">
              <PromptSettings prompt={prompt} name={name} />
            </Tabs.Panel>
          </>
        )}
      </Tabs>
      {dialog === "fork" && <ForkForm prompt={prompt!} name={name} onClose={() => setDialog(null)} />}
      {dialog === "edit" && (
        <Suspense>
          <EditPrompt
            prompt={prompt!}
            name={name}
            commit={search.commit}
            onClose={() => setDialog(null)}
            onCommitted={() => change({ tab: "prompt", commit: "" })}
          />
        </Suspense>
      )}
    </Page>
  );
}

function About({ prompt, name }: { prompt: PromptRow | undefined; name: PromptName }) {
  return (
    <>
      <Breadcrumbs mb="xs" mt={-8} separatorMargin={6}>
        <AnchorLink to="/prompts" size="sm">
          Prompts
        </AnchorLink>
        <Text size="sm" c="dimmed">
          {prompt?.full_name ?? `${name.owner}/${name.repo}`}
        </Text>
      </Breadcrumbs>
      <Group gap="xs" mb="xs" mih={22}>
        {prompt && (
          <>
            {prompt.repo_type !== "prompt" && <Mark>{prompt.repo_type}</Mark>}
            <Mark>{prompt.is_public ? "public" : "private"}</Mark>
            {prompt.is_archived && <Mark>archived</Mark>}
            {prompt.tags.map((tag) => (
              <AnchorLink key={tag} to="/prompts" search={{ tag }} size="sm">
                {tag}
              </AnchorLink>
            ))}
            <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
              {[prompt.description, counted(prompt.num_commits, "commit")].filter(Boolean).join(" · ")} · updated{" "}
              <TimeText at={prompt.updated_at} inherit />
            </Text>
            {prompt.upstream_repo_full_name != null && (
              <Text size="sm" c="dimmed">
                Forked from {prompt.upstream_repo_full_name}
              </Text>
            )}
          </>
        )}
      </Group>
      {prompt?.is_archived && (
        <Alert color="neutral" mb="sm">
          This prompt is archived: lists leave it out, and it can still be pulled. Restore it in its settings.
        </Alert>
      )}
    </>
  );
}

const Mark = ({ children }: { children: string }) => (
  <Badge variant="default" size="sm" tt="none" fw={500}>
    {children}
  </Badge>
);

interface ActionsProps {
  prompt: PromptRow;
  name: PromptName;
  commit: string;
  onOpen: (dialog: "edit" | "fork") => void;
}

function Actions({ prompt, name, commit, onOpen }: ActionsProps) {
  const updateDenial = usePermission("prompts:update");
  const createDenial = usePermission("prompts:create");
  const shown = commit === "" ? (prompt.last_commit_hash ?? "") : commit;
  return (
    <>
      {prompt.repo_type === "prompt" && (
        <>
          <ButtonLink
            to="/playground"
            search={{ prompt: `${name.owner}/${name.repo}`, ...(shown !== "" && { commit: shown }) }}
            size="xs"
            variant="default"
            leftSection={<IconPlayerPlay size={14} aria-hidden />}
          >
            Open in playground
          </ButtonLink>
          {name.owner === "-" && <RunExperimentButton prompt={{ name: name.repo, commit }} />}
        </>
      )}
      <PermittedButton
        denial={createDenial}
        size="xs"
        variant="default"
        leftSection={<IconGitFork size={14} aria-hidden />}
        onClick={() => onOpen("fork")}
      >
        Fork
      </PermittedButton>
      {prompt.repo_type === "prompt" && (
        <PermittedButton
          denial={updateDenial}
          size="xs"
          leftSection={<IconPencil size={14} aria-hidden />}
          onClick={() => onOpen("edit")}
        >
          Edit
        </PermittedButton>
      )}
    </>
  );
}
