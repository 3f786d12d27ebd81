import type { Assistant } from "@langchain/langgraph-sdk";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { Empty } from "../../ui/empty.tsx";
import { ButtonLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { Page } from "../../ui/page.tsx";
import { chooseAssistant } from "../playground/choose-assistant.ts";
import { Composer } from "../playground/composer.tsx";
import { RecentThreads } from "../playground/recent-threads.tsx";
import { ThreadView } from "../playground/thread-view.tsx";
import { useConversation } from "../playground/use-conversation.ts";
import { assistantsQuery, threadQuery } from "../threads/queries.ts";
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
      {isPending || thread.isLoadingError ? (
        <LoadState query={[assistants, thread]} title="Could not load the chat" />
      ) : assistant ? (
        <Chat
          key={`${server} ${assistant.assistant_id} ${round}`}
          server={server}
          assistant={assistant}
          threadId={search.thread ?? null}
          onThread={(id) => void navigate({ search: { assistant: addressOf(assistant), thread: id }, replace: true })}
        />
      ) : (
        <Empty title="No graphs on this server">Add a graph to langgraph.json and restart the server.</Empty>
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

function Chat(props: ChatProps) {
  const { schemas, schema, run, runId, sendInput, view } = useConversation({ ...props, strategy: "enqueue" });
  if (!schemas.data) return <LoadState query={schemas} title="Could not load the graph" />;
  const isRunning = run.stream.isLoading;
  return (
    <section className={classes["chat"]} aria-label="Chat">
      <ThreadView {...view} />
      <Composer
        schema={schema}
        messagesKey={view.messagesKey}
        isSimple
        isRunning={isRunning}
        isWaiting={!isRunning && run.thread?.status === "interrupted"}
        strategy="enqueue"
        onStrategy={() => {}}
        {...(runId !== null && { onCancel: () => void run.cancel(runId) })}
        onSend={sendInput}
      />
    </section>
  );
}
