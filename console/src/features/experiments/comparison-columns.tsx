import { Group, Stack, Text } from "@mantine/core";

import type { Column } from "../../ui/data-table.tsx";
import { seconds } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import classes from "./comparison.module.css";
import type { ComparedRow, Comparison } from "./queries.ts";
import { arrow, formatChange, formatValue, isGood } from "./wording.ts";

type Result = ComparedRow["results"][string];

interface ColumnsOptions {
  /** Names of experiments by id. */
  names: ReadonlyMap<string, string>;
  /** In the order of the columns. */
  experiments: string[];
  baseline: string;
  keys: Comparison["keys"];
  /** Keys that are not shown, and those without colours. */
  hidden: readonly string[];
  plain: readonly string[];
}

/** Columns of compared examples: inputs, reference, and a result per experiment. */
export function comparisonColumns(options: ColumnsOptions): Column<ComparedRow>[] {
  const { names, experiments, baseline } = options;
  return [
    {
      id: "inputs",
      header: "Inputs",
      width: "minmax(200px, 1.2fr)",
      cell: ({ inputs_preview: text }) => <Lines text={text} />,
    },
    {
      id: "reference_outputs",
      header: "Reference outputs",
      width: "minmax(180px, 1fr)",
      cell: ({ reference_preview: text }) => <Lines text={text} />,
    },
    ...experiments.map((id): Column<ComparedRow> => ({
      id,
      label: names.get(id) ?? id.slice(-8),
      header: (
        <Text inherit truncate>
          {names.get(id) ?? id.slice(-8)}
          {id === baseline && experiments.length > 1 && (
            <Text span inherit c="dimmed" fw={400}>
              {" "}
              (baseline)
            </Text>
          )}
        </Text>
      ),
      width: "minmax(240px, 1.4fr)",
      cell: ({ results }) => <Outcome projectId={id} result={results[id]} {...options} />,
    })),
  ];
}

function Outcome({
  projectId,
  result,
  keys,
  hidden,
  plain,
}: ColumnsOptions & { projectId: string; result: Result | undefined }) {
  if (!result) {
    return (
      <Text size="sm" c="dimmed">
        No run
      </Text>
    );
  }
  const latency = result.metrics["latency_seconds"];
  return (
    <Stack gap={2} miw={0} w="100%">
      <Text size="xs" ff="monospace" lineClamp={2} style={{ whiteSpace: "normal", overflowWrap: "anywhere" }}>
        {result.error === null ? (result.outputs_preview ?? "–") : `Error: ${result.error}`}
      </Text>
      <Group gap={8} wrap="nowrap">
        <AnchorLink to="/projects/$projectId/r/$runId" params={{ projectId, runId: result.run_id }} size="xs">
          {seconds(latency)}
        </AnchorLink>
        {result.runs > 1 && (
          <Text size="xs" c="dimmed">
            average of {result.runs}
          </Text>
        )}
      </Group>
      <ul className={classes["scores"]} aria-label="Scores">
        {keys
          .filter(({ key }) => !hidden.includes(key) && result.scores[key] != null)
          .map(({ key, lower_is_better: isLowerBetter }) => (
            <ScoreItem
              key={key}
              name={key}
              score={result.scores[key]!}
              delta={result.score_deltas[key] ?? null}
              isLowerBetter={isLowerBetter}
              hasColor={!plain.includes(key)}
            />
          ))}
      </ul>
    </Stack>
  );
}

interface ScoreItemProps {
  name: string;
  score: number;
  delta: number | null;
  isLowerBetter: boolean;
  hasColor: boolean;
}

function ScoreItem({ name, score, delta, isLowerBetter, hasColor }: ScoreItemProps) {
  const isChanged = delta !== null && formatChange(delta) !== "±0";
  const change = isChanged && hasColor ? (isGood(delta, isLowerBetter) ? "good" : "bad") : undefined;
  // a change of 1 or more has the full colour
  const heat = isChanged ? Math.min(1, 0.3 + 0.7 * Math.abs(delta)) : 0;
  return (
    <li className={`${classes["score"]} numbers`} data-change={change} style={{ "--heat": heat } as object}>
      {name} {formatValue(score)}
      {isChanged && (
        <Text span inherit fw={600}>
          {" "}
          {arrow(delta)} {formatChange(delta)}
        </Text>
      )}
    </li>
  );
}

function Lines({ text }: { text: string | null }) {
  return (
    <Text
      size="xs"
      ff="monospace"
      lineClamp={3}
      title={text ?? undefined}
      style={{ whiteSpace: "normal", overflowWrap: "anywhere" }}
    >
      {text ?? "–"}
    </Text>
  );
}
