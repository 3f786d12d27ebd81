import { Alert, Button, Group } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { readWorkspace } from "../../api/credentials.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { identityQuery } from "../settings/queries.ts";
import { type StoredDraft, loadDraft, saveDraft, discardDraft } from "./draft-storage.ts";
import { type Opened, openDraft } from "./open-draft.ts";
import { sourceName } from "./play-search.ts";
import { Workbench } from "./workbench.tsx";

const route = getRouteApi("/_shell/playground");

/** Prompt playground: the call of a trace, a commit of a prompt, or a new prompt, on up to eight models. */
export function PromptPlaygroundPage() {
  const search = route.useSearch();
  const { data: identity, isPending } = useQuery(identityQuery);
  const [round, setRound] = useState(0);
  if (isPending) return <Waiting />;
  const owner = `${readWorkspace() ?? "default"}.${identity?.user_id ?? ""}`;
  const source = sourceName(search);
  return (
    <Source key={`${owner} ${source} ${round}`} owner={owner} source={source} onReopen={() => setRound(round + 1)} />
  );
}

const Waiting = () => (
  <Page title="Prompt playground">
    <Loading rows={10} />
  </Page>
);

interface SourceProps {
  owner: string;
  source: string;
  onReopen: () => void;
}

/** Continues the stored draft if it began with the same source; otherwise opens the source. */
function Source({ owner, source, onReopen }: SourceProps) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const [stored] = useState(() => {
    const current = loadDraft(localStorage, owner);
    if (!current || current.source === source || source === "") return current;
    // another source must not overwrite what the user has edited
    if (current.draft.isEdited) saveDraft(localStorage, owner, current, "previous");
    return null;
  });
  const [previous, setPrevious] = useState(() => (stored ? null : loadDraft(localStorage, owner, "previous")));
  const opened = useQuery({
    queryKey: ["playground", "opened", source],
    queryFn: (): Promise<Opened> => openDraft(client, search),
    enabled: stored === null,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (opened.error) {
    return (
      <Page title="Prompt playground">
        <LoadState query={opened} title="Could not open the prompt" />
      </Page>
    );
  }
  const begun = stored?.draft ?? opened.data?.draft;
  if (!begun) return <Waiting />;
  const restore = async ({ source: before, ...kept }: StoredDraft) => {
    saveDraft(localStorage, owner, { source: before, ...kept });
    discardDraft(localStorage, owner, "previous");
    await navigate({ search: toSearch(before), replace: true });
    onReopen();
  };
  return (
    <Workbench
      owner={owner}
      source={stored?.source ?? source}
      opened={begun}
      tries={stored?.tries ?? []}
      onDiscard={onReopen}
      notices={
        <>
          {(stored ? [] : (opened.data?.notes ?? [])).map((note) => (
            <Alert key={note} color="warning" variant="light" py={6} mb="xs">
              {note}
            </Alert>
          ))}
          {previous && (
            <Alert color="neutral" variant="light" py={6} mb="xs" aria-label="Previous draft">
              <Group gap="sm">
                Your previous draft was set aside.
                <Button size="compact-xs" variant="default" onClick={() => void restore(previous)}>
                  Restore it
                </Button>
                <Button
                  size="compact-xs"
                  variant="subtle"
                  color="neutral"
                  onClick={() => {
                    discardDraft(localStorage, owner, "previous");
                    setPrevious(null);
                  }}
                >
                  Discard it
                </Button>
              </Group>
            </Alert>
          )}
        </>
      }
    />
  );
}

/** Returns the address's parameters for the name of a source. */
function toSearch(source: string) {
  const [kind, name, commit] = source.split(":");
  if (kind === "run") return { run: name };
  if (kind !== "prompt") return {};
  return { prompt: name, ...(commit !== "latest" && { commit }) };
}
