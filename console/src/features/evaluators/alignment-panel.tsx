import { Alert, Button, Group, Pagination, Paper, Select, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { PermittedButton } from "../../ui/permitted-button.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { queueChoicesQuery } from "../annotation-queues/queries.ts";
import { usePermission } from "../settings/use-permission.ts";
import { datasetChoicesQuery } from "../traces/queries.ts";
import { AlignmentFigures, ConfusionMatrix } from "./alignment-figures.tsx";
import { type Alignment, alignmentQuery, type AlignmentScope } from "./queries.ts";
import { scoreText } from "./score-text.tsx";

const PAGE = 20;

/** Agreement of an evaluator with people: statistics by version, the confusion matrix and the disagreements. */
export function AlignmentPanel({ evaluatorId }: { evaluatorId: string }) {
  const [place, setPlace] = useState<string | null>(null);
  const [page, setPage] = useState(1);
  const { data: queues = [] } = useQuery(queueChoicesQuery);
  const { data: datasets = [] } = useQuery(datasetChoicesQuery);
  const found = useQuery(alignmentQuery(evaluatorId, readScope(place), (page - 1) * PAGE));
  return (
    <Stack gap="md">
      <Group gap="xs" align="flex-end">
        <Select
          size="xs"
          label="Compare within"
          placeholder="All runs that people labelled"
          clearable
          searchable
          w={280}
          data={[
            { group: "Annotation queues", items: queues.map(({ id, name }) => ({ value: `q:${id}`, label: name })) },
            { group: "Datasets", items: datasets.map(({ id, name }) => ({ value: `d:${id}`, label: name })) },
          ]}
          value={place}
          onChange={(value) => {
            setPlace(value);
            setPage(1);
          }}
        />
        <LabelButton evaluatorId={evaluatorId} />
      </Group>
      <LoadState query={found} rows={6} />
      {found.data &&
        (found.data.keys.length === 0 ? (
          <Text size="sm" maw={560}>
            No run has both a judgement of this evaluator and a person's label for the same key. Label judged runs in an
            annotation queue, or correct the judgements on a run's page.
          </Text>
        ) : (
          <>
            {found.data.keys.map((key) => (
              <KeyAlignment key={key.feedback_key} alignment={key} />
            ))}
            {found.data.truncated && <Text size="xs">Only the newest 10,000 judgements were compared.</Text>}
            <Disagreements evaluatorId={evaluatorId} found={found.data.disagreements} page={page} onPage={setPage} />
          </>
        ))}
    </Stack>
  );
}

function readScope(place: string | null): AlignmentScope {
  if (place === null) return {};
  return place.startsWith("q:") ? { annotation_queue_id: place.slice(2) } : { dataset_id: place.slice(2) };
}

function LabelButton({ evaluatorId }: { evaluatorId: string }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const create = useMutation({
    mutationFn: async () => {
      const params = { path: { evaluator_id: evaluatorId } };
      const made = await data(
        traceApi.POST("/v1/platform/evaluators/{evaluator_id}/alignment-queue", { params, body: { limit: 50 } }),
      );
      await client.invalidateQueries({ queryKey: ["annotation-queues"] });
      await navigate({ to: "/annotation-queues/$queueId", params: { queueId: made.annotation_queue_id } });
    },
  });
  return (
    <>
      <Button size="xs" variant="default" loading={create.isPending} onClick={() => create.mutate()}>
        Label judged runs
      </Button>
      {create.error && (
        <Alert color="danger" role="alert" p="xs">
          {create.error.message}
        </Alert>
      )}
    </>
  );
}

const fixed = (value: number | null): string => (value === null ? "–" : value.toFixed(2));

function KeyAlignment({ alignment }: { alignment: Alignment["keys"][number] }) {
  return (
    <section aria-label={alignment.feedback_key}>
      <Title order={2} size="h5" mb="xs">
        {alignment.feedback_key}
      </Title>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <Stack gap="sm">
          <AlignmentFigures alignment={alignment} />
          <SimpleTable
            label={`Agreement of ${alignment.feedback_key} by version`}
            minWidth={420}
            columns={[
              { title: "Version", cell: ({ version }) => version },
              { title: "Compared", align: "right", cell: ({ items }) => items },
              { title: "Accuracy", align: "right", cell: ({ accuracy }) => fixed(accuracy) },
              { title: "Kappa", align: "right", cell: ({ kappa }) => fixed(kappa) },
              { title: "Mean error", align: "right", cell: (row) => fixed(row.mean_absolute_error) },
            ]}
            rows={alignment.versions}
            rowKey={({ version }) => String(version)}
          />
        </Stack>
        {alignment.confusion && <ConfusionMatrix confusion={alignment.confusion} />}
      </SimpleGrid>
    </section>
  );
}

interface DisagreementsProps {
  evaluatorId: string;
  found: Alignment["disagreements"];
  page: number;
  onPage: (page: number) => void;
}

function Disagreements({ evaluatorId, found, page, onPage }: DisagreementsProps) {
  return (
    <section aria-label="Disagreements">
      <Title order={2} size="h5" mb="xs">
        {found.total === 1 ? "1 disagreement" : `${found.total} disagreements`}
      </Title>
      <Stack gap="xs">
        {found.items.map((item) => (
          <Paper key={item.judge.feedback_id} withBorder p="xs">
            <Group justify="space-between" gap="xs" mb={4}>
              {item.session_id === null ? (
                <Text size="sm">{item.run_id}</Text>
              ) : (
                <AnchorLink
                  to="/projects/$projectId/r/$runId"
                  params={{ projectId: item.session_id, runId: item.run_id }}
                  size="sm"
                >
                  Open the run
                </AnchorLink>
              )}
              <Group gap="sm">
                <Text size="xs" c="dimmed">
                  {item.feedback_key}, version {item.version}
                </Text>
                <CorrectButton evaluatorId={evaluatorId} item={item} />
              </Group>
            </Group>
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
              <Side title="Judge" score={scoreText(item.judge)} comment={item.judge.comment} />
              <Side title={item.person.name ?? "Person"} score={scoreText(item.person)} comment={item.person.comment} />
            </SimpleGrid>
          </Paper>
        ))}
      </Stack>
      {found.total > PAGE && (
        <Pagination size="sm" mt="sm" total={Math.ceil(found.total / PAGE)} value={page} onChange={onPage} />
      )}
    </section>
  );
}

/** Makes the person's label the correction of the judgement: the judge can learn from corrections. */
function CorrectButton({
  evaluatorId,
  item,
}: {
  evaluatorId: string;
  item: Alignment["disagreements"]["items"][number];
}) {
  const client = useQueryClient();
  const denial = usePermission("feedback:update");
  const { judge, person, is_corrected: isCorrected } = item;
  const correct = useMutation({
    mutationFn: () =>
      data(
        traceApi.PATCH("/api/v1/feedback/{feedback_id}", {
          params: { path: { feedback_id: judge.feedback_id } },
          body: { correction: { score: person.score, value: person.value } },
        }),
      ),
    onError: notifyFailure("Could not correct the judgement"),
    onSettled: () => client.invalidateQueries({ queryKey: ["evaluator", evaluatorId, "alignment"] }),
  });
  if (isCorrected) return <Text size="xs">Corrected</Text>;
  return (
    <PermittedButton
      size="compact-xs"
      variant="default"
      denial={denial}
      loading={correct.isPending}
      onClick={() => correct.mutate()}
    >
      Correct the judgement
    </PermittedButton>
  );
}

const Side = ({ title, score, comment }: { title: string; score: string; comment: string | null }) => (
  <div>
    <Text size="sm" fw={600}>
      {title}: {score}
    </Text>
    <Text size="sm" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
      {comment ?? "No reason given"}
    </Text>
  </div>
);
