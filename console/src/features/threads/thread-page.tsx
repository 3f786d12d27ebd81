import { Button, Group, Tabs, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense, useMemo } from "react";

import { agentApi, data } from "../../api/clients.ts";
import { spacesQuery } from "../../app/queries.ts";
import { useConfirm } from "../../ui/confirm.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ButtonLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { Loading } from "../../ui/loading.tsx";
import { notifyDone, notifyFailure } from "../../ui/notify.ts";
import { Page } from "../../ui/page.tsx";
import { ShortId } from "../../ui/short-id.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TabList } from "../../ui/tab-list.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import type { ThreadSearch } from "./read-thread-search.ts";
import { ThreadFeedback } from "./thread-feedback.tsx";
import { ThreadHistory } from "./thread-history.tsx";
import { threadKey, threadQuery } from "./queries.ts";
import { titleThread } from "./thread-preview.ts";
import { ThreadRuns } from "./thread-runs.tsx";
import { ThreadStatePanel } from "./thread-state.tsx";

const ThreadCompare = lazy(async () => ({ default: (await import("./thread-compare.tsx")).ThreadCompare }));
const route = getRouteApi("/_shell/a/$server/threads/$threadId");

export function ThreadPage() {
  const { server, threadId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const queryClient = useQueryClient();
  const { confirm, dialog } = useConfirm();
  const { data: about } = useQuery(spacesQuery);
  const thread = useQuery({ ...threadQuery(server, threadId), refetchInterval: 3_000 });
  const params = { path: { thread_id: threadId } };
  const copy = useMutation({
    mutationFn: () => data(agentApi(server).POST("/threads/{thread_id}/copy", { params })),
    async onSuccess({ thread_id: id }) {
      notifyDone("Thread duplicated with its history");
      await navigate({ to: "/a/$server/threads/$threadId", params: { server, threadId: id }, search: {} });
    },
    onError: notifyFailure("Could not duplicate the thread"),
  });
  const remove = () =>
    confirm({
      title: "Delete this thread?",
      body: "This deletes its state, checkpoints and runs, and cancels active runs. Traces are kept.",
      action: "Delete",
      async run() {
        await agentApi(server).DELETE("/threads/{thread_id}", { params });
        queryClient.removeQueries({ queryKey: threadKey(server, threadId) });
        notifyDone("Thread deleted");
        await navigate({ to: "/a/$server/threads", params: { server }, search: {} });
        await queryClient.invalidateQueries({ queryKey: ["agent", server, "threads"] });
      },
    });
  const go = (next: Partial<ThreadSearch>, replace = false) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace });
  const said = useMemo(() => titleThread(thread.data?.values), [thread.data?.values]);
  const title = said || `Thread ${threadId.slice(-8)}`;
  if (!thread.data) {
    return (
      <Page title={title} isLate>
        <LoadState query={thread} />
      </Page>
    );
  }
  const { status, metadata, created_at: createdAt, updated_at: updatedAt } = thread.data;
  const { tab = "state" } = search;
  return (
    <Page
      title={title}
      isLate
      actions={
        <>
          <ButtonLink to="/a/$server/playground" params={{ server }} search={{ thread: threadId }} size="xs">
            Open in playground
          </ButtonLink>
          <Button size="xs" variant="default" loading={copy.isPending} onClick={() => copy.mutate()}>
            Duplicate
          </Button>
          <Button size="xs" variant="outline" color="danger" onClick={remove}>
            Delete
          </Button>
        </>
      }
    >
      <Group gap="sm" mb="sm">
        <StatusBadge status={status} />
        <Group gap={2} wrap="nowrap">
          <ShortId id={threadId} />
          <CopyButton value={threadId} label="Copy thread ID" />
        </Group>
        <Text size="sm">{String((metadata as { graph_id?: string } | null)?.graph_id ?? "No graph yet")}</Text>
        <Text size="sm" c="dimmed">
          created <TimeText at={createdAt} inherit />, active <TimeText at={updatedAt} inherit />
        </Text>
      </Group>
      <Tabs
        value={tab}
        onChange={(next) => go({ tab: next as NonNullable<ThreadSearch["tab"]> }, true)}
        keepMounted={false}
      >
        <TabList mb="sm">
          <Tabs.Tab value="state">State</Tabs.Tab>
          <Tabs.Tab value="runs">Runs</Tabs.Tab>
          <Tabs.Tab value="history">History</Tabs.Tab>
          <Tabs.Tab value="compare">Compare</Tabs.Tab>
          {about?.spaces.trace && <Tabs.Tab value="feedback">Feedback</Tabs.Tab>}
        </TabList>
        <Tabs.Panel value="state">
          <ThreadStatePanel server={server} thread={thread.data} />
        </Tabs.Panel>
        <Tabs.Panel value="runs">
          <ThreadRuns server={server} threadId={threadId} isBusy={status === "busy"} />
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <ThreadHistory
            server={server}
            threadId={threadId}
            version={`${status} ${updatedAt}`}
            checkpoint={search.checkpoint}
            other={search.with}
            onChoose={(checkpoint, other) => go({ checkpoint, with: other }, true)}
          />
        </Tabs.Panel>
        <Tabs.Panel value="compare">
          <Suspense fallback={<Loading />}>
            <ThreadCompare
              key={threadId}
              server={server}
              thread={thread.data}
              against={search.against}
              onChoose={(against) => go({ tab: "compare", against })}
            />
          </Suspense>
        </Tabs.Panel>
        {about?.spaces.trace && (
          <Tabs.Panel value="feedback">
            <ThreadFeedback server={server} threadId={threadId} />
          </Tabs.Panel>
        )}
      </Tabs>
      {dialog}
    </Page>
  );
}
