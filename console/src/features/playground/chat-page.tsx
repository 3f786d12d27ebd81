import { Button, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { Empty } from "../../ui/empty.tsx";
import { ButtonLink } from "../../ui/links.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useCopy } from "../../ui/use-copy.ts";
import { useLoaded } from "../../ui/use-loaded.ts";
import { assistantsQuery, threadQuery } from "../threads/queries.ts";
import { chooseAssistant } from "./choose-assistant.ts";
import { loadChat } from "./prefetch.ts";

const route = getRouteApi("/_shell/a/$server/chat");

/** Chat with an assistant. Its address opens the same thread for everyone who may use the server. */
export function ChatPage() {
  const { server } = route.useParams();
  const { assistant: named, thread: threadId } = route.useSearch();
  const navigate = route.useNavigate();
  const assistants = useQuery(assistantsQuery(server));
  const thread = useQuery({ ...threadQuery(server, threadId ?? ""), enabled: threadId !== undefined });
  const Chat = useLoaded(loadChat);
  const [round, setRound] = useState(0);
  const error = assistants.error ?? (thread.data ? null : thread.error);
  if (error) {
    return (
      <Page title="Chat">
        <Problem error={error} onRetry={assistants.error ? assistants.refetch : thread.refetch} />
      </Page>
    );
  }
  if (!assistants.data || !Chat || (threadId !== undefined && thread.isPending)) {
    return (
      <Page title="Chat" isLate>
        <Loading />
      </Page>
    );
  }
  const assistant = chooseAssistant(assistants.data, named, thread.data);
  if (!assistant) {
    return (
      <Page title="Chat">
        <Empty title="No graphs on this server">
          <Text size="sm">Add a graph to langgraph.json and restart the server.</Text>
        </Empty>
      </Page>
    );
  }
  const { assistant_id: assistantId, name, description } = assistant;
  const search = { assistant: assistantId, ...(threadId !== undefined && { thread: threadId }) };
  return (
    <Page
      title={name}
      isLate
      actions={
        <>
          <CopyLink disabled={threadId === undefined} />
          <ButtonLink to="/a/$server/playground" params={{ server }} search={search} size="xs" variant="default">
            Open in playground
          </ButtonLink>
          <Button
            size="xs"
            variant="default"
            onClick={() => {
              setRound(round + 1);
              void navigate({ search: { assistant: assistantId } });
            }}
          >
            New chat
          </Button>
        </>
      }
    >
      {description !== undefined && threadId === undefined && (
        <Text size="sm" c="dimmed" mb="sm">
          {description}
        </Text>
      )}
      <Chat
        key={`${server} ${assistantId} ${round}`}
        server={server}
        assistant={assistant}
        threadId={threadId ?? null}
        onThread={(id) => void navigate({ search: { assistant: assistantId, thread: id }, replace: true })}
      />
    </Page>
  );
}

/** Copies the address of the chat, for members of the team. */
function CopyLink({ disabled }: { disabled: boolean }) {
  const { copied, copy } = useCopy();
  return (
    <Button
      size="xs"
      variant="default"
      disabled={disabled}
      title="For everyone who may use this server: they see this thread, continue it, and rate its replies"
      onClick={() => copy(location.href)}
    >
      {copied ? "Copied" : "Copy link"}
    </Button>
  );
}
