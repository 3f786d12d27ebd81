import { Button, Select } from "@mantine/core";
import type { Assistant } from "@langchain/langgraph-sdk";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { ApiError } from "../../api/api-error.ts";
import { Empty } from "../../ui/empty.tsx";
import { ButtonLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { useLoaded } from "../../ui/use-loaded.ts";
import { assistantsQuery, threadQuery } from "../threads/queries.ts";
import { chooseAssistant } from "./choose-assistant.ts";
import { EMPTY_SETUP } from "./read-setup.ts";
import { loadSideBySide, loadWorkbench } from "./prefetch.ts";
import { RecentThreads } from "./recent-threads.tsx";
import type { Strategy } from "./use-run.ts";
import { Watcher } from "./watcher.ts";
import type { Place } from "./workbench.tsx";

const route = getRouteApi("/_shell/a/$server/playground");

/** Playground for an assistant and a thread; its whole state is in the URL. */
export function Playground() {
  const { server } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const assistants = useQuery(assistantsQuery(server));
  const { thread: threadId } = search;
  const thread = useQuery({ ...threadQuery(server, threadId ?? ""), enabled: threadId !== undefined });
  const code = useLoaded(loadWorkbench);
  const [watcher] = useState(() => new Watcher());
  const [draft, setDraft] = useState(EMPTY_SETUP);
  const [strategy, setStrategy] = useState<Strategy>("enqueue");
  const [round, setRound] = useState(0);
  const [problem, setProblem] = useState<Error | null>(null);

  if (assistants.isLoadingError) return <LoadState query={assistants} />;
  const { error: lost } = thread;
  const isGone = lost instanceof ApiError && lost.status >= 400 && lost.status < 500;
  if (lost && (isGone || !thread.data)) {
    return (
      <Page
        title="Playground"
        actions={<NewThread onClick={() => void navigate({ search: { panel: search.panel } })} />}
      >
        <LoadState query={thread} title="Could not load the thread" />
      </Page>
    );
  }
  const waits = !code || (threadId !== undefined && search.assistant === undefined && thread.isPending);
  if (!assistants.data || waits) {
    return (
      <Page title="Playground">
        <Loading />
      </Page>
    );
  }
  const assistant = chooseAssistant(assistants.data, search.assistant, thread.data);
  if (!assistant) {
    return (
      <Page title="Playground">
        <Empty title="No graphs on this server">Add a graph to langgraph.json and restart the server.</Empty>
      </Page>
    );
  }
  const go = (to: Place, replace = false) =>
    void navigate({ search: { assistant: assistant.assistant_id, ...to }, replace });
  const begin = (assistantId: string) => {
    watcher.clear();
    setProblem(null);
    setRound(round + 1);
    void navigate({ search: { assistant: assistantId, panel: search.panel } });
  };
  const versus = assistants.data.find(
    ({ assistant_id: id, graph_id: graph }) => id === search.versus || graph === search.versus,
  );
  if (versus) return <Versus server={server} assistants={[assistant, versus]} />;
  // another assistant if there is one; comparing an assistant with itself shows how its replies vary
  const rival = assistants.data.find(({ assistant_id: id }) => id !== assistant.assistant_id) ?? assistant;
  const sameName = (name: string) => assistants.data.filter((candidate) => candidate.name === name).length > 1;
  return (
    <Page
      title="Playground"
      actions={
        <>
          <Select
            size="xs"
            w={{ base: 140, sm: 220 }}
            aria-label="Assistant"
            searchable={assistants.data.length > 8}
            // typing replaces the current name
            onClick={({ currentTarget }) => currentTarget.select()}
            allowDeselect={false}
            data={assistants.data.map(({ assistant_id: value, name, graph_id: graph }) => ({
              value,
              label: sameName(name) ? `${name} (${graph}, ${value.slice(-6)})` : name,
            }))}
            value={assistant.assistant_id}
            onChange={(id) => {
              if (id === null || id === assistant.assistant_id) return;
              setDraft(EMPTY_SETUP);
              begin(id);
            }}
          />
          <RecentThreads
            server={server}
            current={threadId}
            onChoose={(chosen) => {
              watcher.clear();
              setProblem(null);
              setRound(round + 1);
              void navigate({ search: { thread: chosen, panel: search.panel } });
            }}
          />
          <Button
            size="xs"
            variant="default"
            onClick={() => void navigate({ search: { assistant: assistant.assistant_id, versus: rival.assistant_id } })}
          >
            Compare
          </Button>
          <ButtonLink
            size="xs"
            variant="default"
            to="/a/$server/chat"
            params={{ server }}
            search={{ assistant: assistant.assistant_id, ...(threadId !== undefined && { thread: threadId }) }}
            title="The chat alone, to share with the team by a link"
          >
            Chat
          </ButtonLink>
          <NewThread onClick={() => begin(assistant.assistant_id)} />
        </>
      }
    >
      <code.Workbench
        key={`${server} ${assistant.assistant_id} ${round}`}
        server={server}
        assistant={assistant}
        place={search}
        onNavigate={go}
        watcher={watcher}
        draft={draft}
        onDraft={setDraft}
        strategy={strategy}
        onStrategy={setStrategy}
        problem={problem}
        onProblem={(error) => {
          setProblem(error);
          if (error) setRound(round + 1);
        }}
      />
    </Page>
  );
}

/** Two assistants on the same inputs. "Stop comparing" continues with the first one and its thread. */
function Versus({ server, assistants: [first, second] }: { server: string; assistants: [Assistant, Assistant] }) {
  const SideBySide = useLoaded(loadSideBySide);
  const { thread, beside } = route.useSearch();
  const navigate = route.useNavigate();
  const [round, setRound] = useState(0);
  const restart = (assistant: string, versus: string) => {
    setRound(round + 1);
    void navigate({ search: { assistant, versus } });
  };
  return (
    <Page
      title="Compare assistants"
      actions={
        <>
          <NewThread onClick={() => restart(first.assistant_id, second.assistant_id)} />
          <Button
            size="xs"
            variant="default"
            onClick={() => void navigate({ search: { assistant: first.assistant_id, ...(thread && { thread }) } })}
          >
            Stop comparing
          </Button>
        </>
      }
    >
      {SideBySide ? (
        <SideBySide
          key={`${server} ${first.assistant_id} ${second.assistant_id} ${round}`}
          server={server}
          sides={[
            { assistant: first, threadId: thread ?? null },
            { assistant: second, threadId: beside ?? null },
          ]}
          onThread={(side, id) =>
            void navigate({
              search: (before) => ({ ...before, [side === 0 ? "thread" : "beside"]: id }),
              replace: true,
            })
          }
          onAssistant={(side, id) => (side === 0 ? restart(id, second.assistant_id) : restart(first.assistant_id, id))}
        />
      ) : (
        <Loading />
      )}
    </Page>
  );
}

function NewThread({ onClick }: { onClick: () => void }) {
  return (
    <Button size="xs" variant="default" onClick={onClick}>
      New thread
    </Button>
  );
}
