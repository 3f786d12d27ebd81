import { Badge, Group, Menu, Stack, Text, Title } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";

import { traceApi } from "../../api/clients.ts";
import { ActionsMenu } from "../../ui/actions-menu.tsx";
import { useConfirm } from "../../ui/confirm.tsx";
import { Empty } from "../../ui/empty.tsx";
import { count, percent } from "../../ui/format.ts";
import { AnchorLink, ButtonLink } from "../../ui/links.tsx";
import { LoadedList, LoadState } from "../../ui/load-state.tsx";
import { Content } from "../../ui/messages/content.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { Page } from "../../ui/page.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { type SimpleColumn, SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import {
  type Queue,
  queueAgreementQuery,
  type QueueItem,
  queueItemsQuery,
  type QueueProgress,
  queueProgressQuery,
  queueQuery,
} from "./queries.ts";
import { QueueForm } from "./queue-form.tsx";

/** One queue: its progress, the agreement of its reviewers, and its runs. */
export function QueuePage() {
  const { queueId } = useParams({ from: "/_shell/annotation-queues/$queueId/" });
  const queue = useQuery(queueQuery(queueId));
  const progress = useQuery(queueProgressQuery(queueId));
  return (
    <Page title={queue.data?.name ?? "Annotation queue"} actions={queue.data && <Actions queue={queue.data} />}>
      {!queue.data || !progress.data ? (
        <LoadState query={[queue, progress]} rows={10} />
      ) : (
        <Stack gap="lg">
          {queue.data.description && <Text size="sm">{queue.data.description}</Text>}
          <Sections progress={progress.data} />
          {queue.data.rubric_instructions && (
            <section aria-label="Instructions">
              <Content content={queue.data.rubric_instructions} />
            </section>
          )}
          <Reviewers progress={progress.data} />
          <Agreement queueId={queueId} />
          <Items queueId={queueId} />
        </Stack>
      )}
    </Page>
  );
}

function Sections({ progress }: { progress: QueueProgress }) {
  const counts: [string, number][] = [
    ["runs", progress.total],
    ["need your review", progress.needs_my_review],
    ["need others' review", progress.needs_others_review],
    ["completed", progress.completed],
  ];
  return (
    <Group gap="md" aria-label="Progress" role="group">
      {counts.map(([name, value]) => (
        <Text key={name} size="sm" className="numbers">
          {count(value)}{" "}
          <Text span inherit c="dimmed">
            {name}
          </Text>
        </Text>
      ))}
    </Group>
  );
}

function Reviewers({ progress }: { progress: QueueProgress }) {
  if (progress.reviewers.length === 0) return null;
  const nameOf = ({ id, name, email }: QueueProgress["reviewers"][number]) =>
    `${name ?? email ?? id}${id === progress.identity_id ? " (you)" : ""}`;
  return (
    <section aria-label="Reviewers">
      <Title order={2} size="h6" mb={4}>
        Reviewers
      </Title>
      <SimpleTable
        label="Reviewers"
        minWidth={400}
        columns={[
          { title: "Reviewer", cell: nameOf },
          { title: "Completed", width: 110, align: "right", cell: ({ completed }) => count(completed) },
          { title: "Reserved", width: 110, align: "right", cell: ({ reserved }) => count(reserved) },
        ]}
        rows={progress.reviewers}
        rowKey={({ id }) => id}
      />
    </section>
  );
}

/** Agreement by feedback key; absent until an item has several judgements. */
function Agreement({ queueId }: { queueId: string }) {
  const { data } = useQuery(queueAgreementQuery(queueId));
  if (!data || data.keys.length === 0) return null;
  return (
    <section aria-label="Agreement">
      <Title order={2} size="h6" mb={4}>
        Agreement
      </Title>
      <SimpleTable
        label="Agreement"
        minWidth={560}
        columns={[
          { title: "Feedback", cell: ({ feedback_key: key }) => key },
          { title: "Runs", width: 90, align: "right", cell: ({ items }) => count(items) },
          { title: "Reviewers", width: 110, align: "right", cell: ({ reviewers }) => count(reviewers) },
          { title: "Agreement", width: 110, align: "right", cell: (row) => percent(row.percent_agreement) },
          {
            title: "Kappa",
            width: 160,
            align: "right",
            cell: ({ kappa, method }) =>
              kappa === null ? "–" : `${kappa.toFixed(2)} (${method === "cohen" ? "Cohen" : "Fleiss"})`,
          },
        ]}
        rows={data.keys}
        rowKey={({ feedback_key: key }) => key}
      />
    </section>
  );
}

const ITEM_COLUMNS: SimpleColumn<QueueItem>[] = [
  {
    title: "Run",
    cell: ({ id, name, session_id: projectId, status }) =>
      status === "deleted" ? (
        <Text span size="sm" c="dimmed">
          Deleted run
        </Text>
      ) : (
        <AnchorLink to="/projects/$projectId/r/$runId" params={{ projectId, runId: id }} size="sm">
          {name || "Unnamed"}
        </AnchorLink>
      ),
  },
  {
    title: "State",
    width: 150,
    cell: ({ archived_at: archived, reserved_by: reserved }) => (
      <Badge variant="light" color={archived ? "success" : reserved.length > 0 ? "info" : "neutral"} tt="none">
        {archived ? "Completed" : reserved.length > 0 ? "Reserved" : "Needs review"}
      </Badge>
    ),
  },
  { title: "Reviews", width: 90, align: "right", cell: ({ completed_by: completed }) => count(completed.length) },
  { title: "Added", width: 120, cell: ({ added_at: at }) => <TimeText at={at} /> },
];

function Items({ queueId }: { queueId: string }) {
  const found = useInfiniteQuery(queueItemsQuery(queueId));
  const items = found.data?.pages.flat() ?? [];
  return (
    <section aria-label="Runs">
      <Title order={2} size="h6" mb={4}>
        Runs
      </Title>
      <LoadedList
        query={found}
        rows={6}
        list={items}
        empty={
          <Empty title="No runs yet">
            Add runs from a trace's page, from selected runs, or from a filtered list of a project.
          </Empty>
        }
      >
        <SimpleTable
          label="Runs"
          columns={ITEM_COLUMNS}
          rows={items}
          rowKey={(item) => item.queue_run_id}
          pages={found}
        />
      </LoadedList>
    </section>
  );
}

function Actions({ queue }: { queue: Omit<Queue, "total_runs"> }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isEdited, setEdited] = useState(false);
  const { confirm, dialog } = useConfirm();
  const params = { path: { queue_id: queue.id } };
  const save = async (format: "csv" | "json") => {
    const { data } = await traceApi.POST("/api/v1/annotation-queues/{queue_id}/export", {
      params: { ...params, query: { format } },
      body: { include_annotator_detail: true },
      parseAs: "blob",
    });
    saveFile(data as unknown as Blob, `${queue.name}.${format}`);
  };
  const exportAs = (format: "csv" | "json") =>
    void save(format).catch(notifyFailure("Could not export the annotation queue"));
  return (
    <>
      <ButtonLink
        to="/annotation-queues/$queueId/review"
        params={{ queueId: queue.id }}
        size="xs"
        leftSection={<IconPlayerPlay size={14} aria-hidden />}
      >
        Review
      </ButtonLink>
      <ActionsMenu label="Queue actions">
        <Menu.Item onClick={() => setEdited(true)}>Edit</Menu.Item>
        <Menu.Item onClick={() => exportAs("csv")}>Export CSV</Menu.Item>
        <Menu.Item onClick={() => exportAs("json")}>Export JSON</Menu.Item>
        <Menu.Item
          color="danger"
          onClick={() =>
            confirm({
              title: `Delete ${queue.name}?`,
              body: "This permanently deletes the queue and its reviewers' progress. The runs and their feedback are kept.",
              action: "Delete",
              run: async () => {
                await traceApi.DELETE("/api/v1/annotation-queues/{queue_id}", { params });
                await navigate({ to: "/annotation-queues" });
                await client.invalidateQueries({ queryKey: ["annotation-queues"] });
              },
            })
          }
        >
          Delete
        </Menu.Item>
      </ActionsMenu>
      {isEdited && <QueueForm initial={queue} onSaved={() => {}} onClose={() => setEdited(false)} />}
      {dialog}
    </>
  );
}
