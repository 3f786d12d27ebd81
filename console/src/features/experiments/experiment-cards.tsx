import { Badge, Button, Group, Paper, Text, Title, UnstyledButton } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Fragment, type ReactNode } from "react";

import { traceApi } from "../../api/clients.ts";
import { count, counted, money, seconds } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import classes from "./comparison.module.css";
import { type Change, writeOnly } from "./comparison-search.ts";
import type { ComparedExperiment, Comparison, MetricName, Summary } from "./queries.ts";
import { describeDelta, formatValue, METRIC_LABELS, METRIC_NAMES, VERDICTS } from "./wording.ts";

interface ExperimentCardsProps {
  datasetId: string;
  comparison: Comparison;
  /** The dataset's own baseline. */
  savedBaseline: string | null;
  only: string;
  onOnly: (only: string) => void;
}

/** A card per experiment: averages, differences from the baseline with their intervals in words, cost and latency. */
export function ExperimentCards(props: ExperimentCardsProps) {
  return (
    <div className={classes["cards"]}>
      {props.comparison.experiments.map((experiment) => (
        <ExperimentCard key={experiment.id} {...props} experiment={experiment} />
      ))}
    </div>
  );
}

function ExperimentCard({
  datasetId,
  comparison,
  savedBaseline,
  only,
  onOnly,
  experiment,
}: ExperimentCardsProps & { experiment: ComparedExperiment }) {
  const client = useQueryClient();
  const { id, name, is_baseline: isBaseline, scores, metrics } = experiment;
  const save = useMutation({
    mutationFn: (experimentId: string | null) =>
      traceApi.PUT("/api/v1/datasets/{dataset_id}/baseline", {
        params: { path: { dataset_id: datasetId } },
        body: { experiment_id: experimentId },
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["dataset", datasetId] }),
    onError: notifyFailure("Could not set the baseline"),
  });
  const facts = (measure: string, label: string, summary: Summary, metric?: MetricName): ReactNode => (
    <Fragment key={measure}>
      <dt>{label}</dt>
      <dd className="numbers" style={{ margin: 0 }}>
        {formatValue(summary.mean, metric)}
      </dd>
      <dd style={{ margin: 0 }}>
        {summary.delta && (
          <DeltaText
            delta={summary.delta}
            confidence={comparison.confidence}
            metric={metric}
            label={`${label} of ${name}`}
            filter={(change) => writeOnly(change, measure, id)}
            only={only}
            onOnly={onOnly}
          />
        )}
      </dd>
    </Fragment>
  );
  return (
    <Paper withBorder p="sm" component="section" aria-label={`Experiment ${name}`}>
      <Group justify="space-between" wrap="nowrap" gap="xs" mb={4} mih={26}>
        <Title order={2} size="h6" style={{ minWidth: 0 }} lineClamp={1}>
          <AnchorLink to="/projects/$projectId" params={{ projectId: id }} inherit>
            {name}
          </AnchorLink>
        </Title>
        {isBaseline && (
          <Badge size="sm" variant="outline" color="neutral" style={{ flexShrink: 0 }}>
            Baseline
          </Badge>
        )}
        {savedBaseline === id ? (
          <Button size="compact-xs" variant="subtle" onClick={() => save.mutate(null)} loading={save.isPending}>
            Remove as baseline
          </Button>
        ) : (
          <Button size="compact-xs" variant="subtle" onClick={() => save.mutate(id)} loading={save.isPending}>
            Set as baseline
          </Button>
        )}
      </Group>
      <Text size="xs" c="dimmed" className="numbers" mb={6}>
        {counted(experiment.examples, "example")} · {counted(experiment.runs, "run")} ·{" "}
        {counted(experiment.errors, "error")} · P50 {seconds(experiment.latency_p50)} · P95{" "}
        {seconds(experiment.latency_p95)} · {money(experiment.total_cost)}
      </Text>
      <dl className={classes["facts"]} aria-label={`Averages of ${name}`}>
        {comparison.keys.map(({ key }) => facts(`score:${key}`, key, scores[key]!))}
        {METRIC_NAMES.map((metric) => facts(`metric:${metric}`, METRIC_LABELS[metric], metrics[metric]!, metric))}
      </dl>
    </Paper>
  );
}

interface DeltaTextProps {
  delta: NonNullable<Summary["delta"]>;
  confidence: number;
  metric: MetricName | undefined;
  label: string;
  filter: (change: Change) => string;
  only: string;
  onOnly: (only: string) => void;
}

function DeltaText({ delta, confidence, metric, label, filter, only, onOnly }: DeltaTextProps) {
  const counts: [Change, number][] = [
    ["better", delta.better],
    ["same", delta.same],
    ["worse", delta.worse],
  ];
  const isClear = delta.verdict === "better" || delta.verdict === "worse";
  const color = delta.verdict === "better" ? "var(--heddle-success)" : "var(--heddle-danger)";
  return (
    <>
      <Text size="xs" className="numbers">
        {describeDelta(delta, confidence, metric)}:{" "}
        <Text span inherit fw={isClear ? 700 : 400} {...(isClear && { c: color })}>
          {VERDICTS[delta.verdict]}
        </Text>
      </Text>
      <Group gap={8}>
        {counts.map(([change, n]) => (
          <UnstyledButton
            key={change}
            aria-pressed={only === filter(change)}
            aria-label={`Only examples with ${change} ${label}`}
            disabled={n === 0}
            onClick={() => onOnly(only === filter(change) ? "" : filter(change))}
          >
            <Text
              size="xs"
              td={n === 0 ? undefined : "underline"}
              c={n === 0 ? "dimmed" : undefined}
              fw={only === filter(change) ? 700 : 400}
              className="numbers"
            >
              {count(n)} {change}
            </Text>
          </UnstyledButton>
        ))}
      </Group>
    </>
  );
}
