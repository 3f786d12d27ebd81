import type { Assistant } from "@langchain/langgraph-sdk";
import { Button, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { Empty } from "../../ui/empty.tsx";
import { ButtonLink } from "../../ui/links.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import type { JsonSchema } from "../../ui/schema-form/schema.ts";
import { chooseAssistant } from "../playground/choose-assistant.ts";
import { findMessagesKey } from "../playground/compose-input.ts";
import { Composer } from "../playground/composer.tsx";
import { RecentThreads } from "../playground/recent-threads.tsx";
import { ThreadView } from "../playground/thread-view.tsx";
import { type Send, useRun } from "../playground/use-run.ts";
import { Watcher } from "../playground/watcher.ts";
import { assistantsQuery, schemasQuery, threadQuery } from "../threads/queries.ts";
import classes from "./chat-page.module.css";
import { ShareChat } from "./share-chat.tsx";

const route = getRouteApi("/_shell/a/$server/chat");

/** A chat with an assistant and nothing else, which a team shares by its URL: each reply can be rated. */
export function ChatPage() {
  const { server } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const assistants = useQuery(assistantsQuery(server));
  const thread = useQuery({ ...threadQuery(server, search.thread ?? ""), enabled: search.thread !== undefined });
  const [round, setRound] = useState(0);
  const problem = assistants.error ?? (thread.data ? null : thread.error);
  const retry = assistants.error ? assistants.refetch : thread.refetch;
  // a thread that the first message creates must not unmount the chat that streams into it
  const isPending =
    !assistants.data || (search.thread !== undefined && search.assistant === undefined && thread.isPending);
  const assistant = assistants.data && chooseAssistant(assistants.data, search.assistant, thread.data);
  const open = (threadId: string | undefined) => {
    setRound(round + 1);
    void navigate({ search: { ...(assistant && { assistant: addressOf(assistant) }), thread: threadId } });
  };
  return (
    <Page
      title={assistant?.name ?? "Chat"}
      actions={
        assistant && (
          <>
            <RecentThreads server={server} current={search.thread} onChoose={open} />
            <ButtonLink
              size="xs"
              variant="default"
              to="/a/$server/playground"
              params={{ server }}
              search={{ assistant: assistant.assistant_id, ...(search.thread && { thread: search.thread }) }}
            >
              Open in playground
            </ButtonLink>
            <ShareChat assistant={addressOf(assistant)} name={assistant.name} threadId={search.thread ?? null} />
            <Button size="xs" variant="default" onClick={() => open(undefined)}>
              New chat
            </Button>
          </>
        )
      }
    >
      {problem ? (
        <Problem error={problem} onRetry={retry} title="Could not load the chat" />
      ) : isPending ? (
        <Loading />
      ) : assistant ? (
        <Chat
          key={`${server} ${assistant.assistant_id} ${round}`}
          server={server}
          assistant={assistant}
          threadId={search.thread ?? null}
          onThread={(id) => void navigate({ search: { assistant: addressOf(assistant), thread: id }, replace: true })}
        />
      ) : (
        <Empty title="No graphs on this server">
          <Text size="sm">Add a graph to langgraph.json and restart the server.</Text>
        </Empty>
      )}
    </Page>
  );
}

/** A graph's own assistant is named by the graph, which is the same on every server. */
const addressOf = ({ assistant_id: id, graph_id: graph, metadata }: Assistant): string =>
  metadata?.["created_by"] === "system" ? graph : id;

interface ChatProps {
  server: string;
  assistant: Assistant;
  threadId: string | null;
  onThread: (threadId: string) => void;
}

function Chat({ server, assistant, threadId, onThread }: ChatProps) {
  const schemas = useQuery(schemasQuery(server, assistant.assistant_id));
  const [watcher] = useState(() => new Watcher());
  const [problem, setProblem] = useState<Error | null>(null);
  const schema = (schemas.data?.input_schema ?? {}) as JsonSchema;
  const messagesKey = findMessagesKey(schema);
  const run = useRun({
    server,
    assistantId: assistant.assistant_id,
    threadId,
    setup: {},
    strategy: "enqueue",
    watcher,
    messagesKey: messagesKey ?? "messages",
    onThread,
    onFailure: setProblem,
  });
  if (schemas.error) {
    return <Problem error={schemas.error} onRetry={schemas.refetch} title="Could not load the graph" />;
  }
  if (!schemas.data) return <Loading />;
  const { stream, states } = run;
  const send = async (request: Omit<Send, "from">, from: Send["from"] = null) => {
    setProblem(null);
    await run.send({ ...request, from });
  };
  const shown = ((stream.values as Record<string, unknown> | undefined)?.[messagesKey ?? ""] ?? []) as unknown[];
  const { runId } = watcher;
  return (
    <section className={classes["chat"]} aria-label="Chat">
      <ThreadView
        run={run}
        messagesKey={messagesKey}
        viewed={undefined}
        isViewing={false}
        head={stream.history.at(-1)}
        problem={problem}
        onProblem={setProblem}
        onLatest={() => {}}
        send={send}
      />
      <Composer
        schema={schema}
        messagesKey={messagesKey}
        isSimple
        isRunning={stream.isLoading}
        isWaiting={!stream.isLoading && run.thread?.status === "interrupted"}
        strategy="enqueue"
        onStrategy={() => {}}
        {...(runId !== null && { onCancel: () => void run.cancel(runId) })}
        onSend={(input, added) => {
          const optimistic = added.length > 0 ? { optimistic: { [messagesKey!]: [...shown, ...added] } } : {};
          // on the branch that is shown
          const head = stream.history.at(-1)?.checkpoint ?? null;
          const isNewest = head?.checkpoint_id === states[0]?.checkpoint?.checkpoint_id;
          void send({ input, ...optimistic }, isNewest ? null : head);
        }}
      />
    </section>
  );
}
