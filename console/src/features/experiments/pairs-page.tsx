import { Alert, Button, Group, Kbd, Progress, Stack, Text } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";

import { Empty } from "../../ui/empty.tsx";
import { count } from "../../ui/format.ts";
import { ButtonLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { RunValue } from "../traces/run-value.tsx";
import classes from "./comparison.module.css";
import { JudgePairs } from "./judge-pairs.tsx";
import { PairResults } from "./pair-results.tsx";
import { judgePair, type Pair, pairResultsQuery, pairsQuery, undoPair } from "./queries.ts";

/** Review of two experiments pair by pair, by keys: 1 and 2 prefer a side, 0 is a tie, U takes the last one back. */
export function PairsPage() {
  const { datasetId, comparisonId } = useParams({ from: "/_shell/datasets/$datasetId_/pairs/$comparisonId" });
  const client = useQueryClient();
  const [turn, setTurn] = useState(0);
  /** Examples judged on this page, the last one at the end. */
  const [done, setDone] = useState<string[]>([]);
  const pairs = useQuery(pairsQuery(comparisonId, turn));
  const results = useQuery(pairResultsQuery(comparisonId));
  const open = pairs.data?.items.filter(({ example_id: id }) => !done.includes(id)) ?? [];
  const [pair] = open;
  const total = pairs.data?.total ?? 0;
  const judged = total === 0 ? 0 : Math.min(total, (pairs.data?.judged ?? 0) + judgedSince(pairs.data?.items, done));
  // not awaited: the next pair is judged while the result is read
  const refresh = () => void client.invalidateQueries({ queryKey: ["pair-results", comparisonId] });
  const judge = useMutation({
    mutationFn: ({ example, preferred }: { example: string; preferred: string | null }) =>
      judgePair(comparisonId, example, preferred),
    onSuccess(_, { example }) {
      setDone([...done, example]);
      // the list is read again when its last pair was judged
      if (open.length <= 1) setTurn(turn + 1);
      refresh();
    },
  });
  const undo = useMutation({
    mutationFn: (example: string) => undoPair(comparisonId, example),
    onSuccess(_, example) {
      setDone(done.filter((id) => id !== example));
      setTurn(turn + 1);
      refresh();
    },
  });
  const isBusy = judge.isPending || undo.isPending;
  const prefer = (side: 0 | 1 | null) => {
    if (!pair || isBusy) return;
    judge.mutate({ example: pair.example_id, preferred: side === null ? null : pair.runs[side]!.run_id });
  };
  const takeBack = () => {
    const last = done.at(-1);
    if (last !== undefined && !isBusy) undo.mutate(last);
  };
  useHotkeys([
    ["1", () => prefer(0)],
    ["ArrowLeft", () => prefer(0)],
    ["2", () => prefer(1)],
    ["ArrowRight", () => prefer(1)],
    ["0", () => prefer(null)],
    ["ArrowDown", () => prefer(null)],
    ["U", takeBack],
  ]);
  const failure = judge.error ?? undo.error;
  return (
    <Page
      title="Review pairs"
      actions={
        <>
          <Group gap="xs" w={220} wrap="nowrap">
            <Progress value={total === 0 ? 0 : (100 * judged) / total} aria-label="Progress" style={{ flex: 1 }} />
            <Text size="sm" className="numbers" role="status" w={110} ta="end">
              {pairs.data ? `${count(judged)} of ${count(total)}` : "…"}
            </Text>
          </Group>
          <ButtonLink
            to="/datasets/$datasetId"
            params={{ datasetId }}
            search={{ tab: "compare", selectedSessions: (results.data?.review.experiment_ids ?? []).join(",") }}
            variant="default"
            size="xs"
          >
            Comparison
          </ButtonLink>
        </>
      }
    >
      {!pairs.data || !results.data ? (
        <LoadState query={[pairs, results]} rows={12} />
      ) : (
        <Stack gap="md">
          <LoadState query={[pairs, results]} />
          {results.data.review.instructions && <Text size="sm">{results.data.review.instructions}</Text>}
          {failure && (
            <Alert color="danger" title="The judgement was not saved">
              {failure.message}
            </Alert>
          )}
          {pair ? (
            <ShownPair key={pair.example_id} pair={pair} onPrefer={prefer} />
          ) : pairs.isFetching ? (
            <Loading rows={12} />
          ) : (
            <Empty title="All pairs are judged">The result is below.</Empty>
          )}
          <Group gap="xs">
            <Button size="xs" variant="default" disabled={done.length === 0} onClick={takeBack}>
              Undo <Kbd ms={6}>U</Kbd>
            </Button>
          </Group>
          <JudgePairs comparisonId={comparisonId} />
          <PairResults results={results.data} />
        </Stack>
      )}
    </Page>
  );
}

/** Pairs of the current list that were judged after it was read. */
const judgedSince = (items: Pair[] | undefined, done: string[]): number =>
  (items ?? []).filter(({ example_id: id, preferred }) => preferred === null && done.includes(id)).length;

function ShownPair({ pair, onPrefer }: { pair: Pair; onPrefer: (side: 0 | 1 | null) => void }) {
  return (
    <Stack gap="sm">
      <RunValue title="Inputs" value={pair.inputs} />
      {pair.reference_outputs && <RunValue title="Reference" value={pair.reference_outputs} />}
      <div className={classes["pair"]}>
        {pair.runs.map((run, side) => (
          <div key={run.run_id} className={classes["side"]} role="group" aria-label={`Side ${side + 1}`} tabIndex={0}>
            {run.error === null ? (
              <RunValue title={`Answer ${side + 1}`} value={run.outputs} />
            ) : (
              <Alert color="danger" title={`Answer ${side + 1} failed`}>
                {run.error}
              </Alert>
            )}
          </div>
        ))}
      </div>
      <Group gap="xs" justify="center">
        <Button size="sm" variant="default" onClick={() => onPrefer(0)}>
          1 is better <Kbd ms={6}>1</Kbd>
        </Button>
        <Button size="sm" variant="default" onClick={() => onPrefer(null)}>
          Tie <Kbd ms={6}>0</Kbd>
        </Button>
        <Button size="sm" variant="default" onClick={() => onPrefer(1)}>
          2 is better <Kbd ms={6}>2</Kbd>
        </Button>
      </Group>
    </Stack>
  );
}
