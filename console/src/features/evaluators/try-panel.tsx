import { Alert, Button, Group, NumberInput, Paper, Select, Stack, Text, TextInput, Title } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { type EvaluatorDraft, toBody } from "./draft.ts";
import { projectChoicesQuery, type Tried } from "./queries.ts";
import { ScoreText } from "./score-text.tsx";

interface TryPanelProps {
  draft: EvaluatorDraft;
  /** The saved evaluator, whose corrections the judge sees. */
  evaluatorId?: string | undefined;
  projectId: string | null;
  onProject: (id: string | null) => void;
}

/** Tries the edited evaluator on real runs, before it is saved. */
export function TryPanel({ draft, evaluatorId, projectId, onProject }: TryPanelProps) {
  const { data: projects = [] } = useQuery(projectChoicesQuery);
  const [filter, setFilter] = useState("");
  const [limit, setLimit] = useState<number | string>(3);
  const run = useMutation({
    mutationFn: () =>
      data(
        traceApi.POST("/v1/platform/evaluators/try", {
          body: {
            ...toBody(draft),
            ...(draft.name.trim() !== "" && { name: draft.name.trim() }),
            ...(evaluatorId !== undefined && { evaluator_id: evaluatorId }),
            session_id: projectId,
            limit: Number(limit) || 3,
            ...(filter.trim() !== "" && { filter: filter.trim() }),
          } as never,
        }),
      ),
  });
  return (
    <Stack gap="xs" component="section" aria-label="Try on real runs">
      <Title order={2} size="h6">
        Try on real runs
      </Title>
      <Group gap={6} align="flex-end">
        <Select
          size="xs"
          label="Project"
          placeholder="Select a project"
          searchable
          style={{ flex: 2, minWidth: 160 }}
          data={projects.map(({ id, name }) => ({ value: id, label: name ?? id }))}
          value={projectId}
          onChange={onProject}
        />
        <NumberInput size="xs" label="Runs" min={1} max={10} w={70} value={limit} onChange={setLimit} />
      </Group>
      <TextInput
        size="xs"
        label="Filter"
        placeholder='eq(name, "agent")'
        value={filter}
        onChange={({ currentTarget: { value } }) => setFilter(value)}
      />
      <Group justify="space-between">
        <Text size="xs" c="dimmed">
          The newest runs. Nothing is stored but the judge's traces.
        </Text>
        <Button
          size="xs"
          leftSection={<IconPlayerPlay size={14} aria-hidden />}
          disabled={projectId === null}
          loading={run.isPending}
          onClick={() => run.mutate()}
        >
          Try
        </Button>
      </Group>
      {run.error && (
        <Alert color="danger" role="alert" style={{ overflowWrap: "anywhere" }}>
          {run.error.message}
        </Alert>
      )}
      <div aria-live="polite">{run.data && <Results tried={run.data} projectId={projectId!} />}</div>
    </Stack>
  );
}

function Results({ tried, projectId }: { tried: Tried; projectId: string }) {
  if (tried.results.length === 0) return <Text size="sm">No run matches.</Text>;
  return (
    <Stack gap="xs">
      {tried.cost_usd !== null && <Text size="xs">Cost of the trial: ${tried.cost_usd}</Text>}
      {tried.results.map((result) => (
        <Paper key={result.run_id} withBorder p="xs">
          <Stack gap={4}>
            <Group justify="space-between" gap="xs">
              <AnchorLink to="/projects/$projectId/r/$runId" params={{ projectId, runId: result.run_id }} size="sm">
                {result.run_name || result.run_id}
              </AnchorLink>
              {result.cost_usd !== null && (
                <Text size="xs" c="dimmed">
                  ${result.cost_usd}
                </Text>
              )}
            </Group>
            {result.error === null ? (
              <ScoreText feedback={result.feedback} />
            ) : (
              <Text size="sm" c="var(--heddle-danger)" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
                {result.error}
              </Text>
            )}
            {result.judge_run_id !== null && result.judge_project_id !== null && (
              <AnchorLink
                to="/projects/$projectId/r/$runId"
                params={{ projectId: result.judge_project_id, runId: result.judge_run_id }}
                size="xs"
              >
                Trace of the judge
              </AnchorLink>
            )}
            {result.logs !== null && <Details title="Output" texts={[result.logs]} />}
            {result.messages.length > 0 && (
              <Details
                title="What the judge received"
                texts={result.messages.map(({ role, content }) => `${role}:\n${asText(content)}`)}
              />
            )}
          </Stack>
        </Paper>
      ))}
    </Stack>
  );
}

const asText = (content: unknown): string => (typeof content === "string" ? content : JSON.stringify(content, null, 2));

const Details = ({ title, texts }: { title: string; texts: string[] }) => (
  <details>
    <summary style={{ cursor: "pointer", fontSize: "var(--mantine-font-size-xs)" }}>{title}</summary>
    {texts.map((text, i) => (
      <Text key={i} size="xs" ff="monospace" mt={4} style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
        {text}
      </Text>
    ))}
  </details>
);
