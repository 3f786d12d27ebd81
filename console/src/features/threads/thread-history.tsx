import { Alert, Box, Button, Checkbox, Grid, Group, Stack, Text, Title } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useState } from "react";

import { CopyButton } from "../../ui/copy-button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { AnchorLink, ButtonLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { Loading } from "../../ui/loading.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { branchColor } from "./branch-heading.tsx";
import { BranchLines } from "./branch-lines.tsx";
import type { TreeRow } from "./history-tree.ts";
import { describeStep } from "./steps.ts";
import { HISTORY_LIMIT, historyQuery, type State, stateQuery } from "./queries.ts";
import { TraceLink } from "./trace-link.tsx";
import { useBranches } from "./use-branches.ts";

const DiffView = lazy(async () => ({ default: (await import("../../ui/diff-view.tsx")).DiffView }));
const MAX_LIMIT = 1000;
const NONE: readonly State[] = [];

interface ThreadHistoryProps {
  server: string;
  threadId: string;
  /** Changes when the thread does. */
  version: string;
  checkpoint: string | undefined;
  /** Checkpoint to compare with. */
  other: string | undefined;
  onChoose: (checkpoint: string | undefined, other: string | undefined) => void;
}

/** All checkpoints as a tree; shows one, or compares two. */
export function ThreadHistory({ server, threadId, version, checkpoint, other, onChoose }: ThreadHistoryProps) {
  const [limit, setLimit] = useState(HISTORY_LIMIT);
  const base = historyQuery(server, threadId, limit);
  const history = useQuery({ ...base, queryKey: [...base.queryKey, version], placeholderData: keepPreviousData });
  const chosen = [checkpoint, other].filter((id) => id !== undefined);
  const branches = useBranches(history.data ?? NONE, chosen);
  if (!history.data) return <LoadState query={history} />;
  if (history.data.length === 0) {
    return <Empty title="No checkpoints yet">Each step of a run creates one.</Empty>;
  }
  const toggle = (id: string) => {
    const left = chosen.includes(id) ? chosen.filter((chosenId) => chosenId !== id) : [...chosen, id].slice(-2);
    onChoose(left[0], left[1]);
  };
  return (
    <Grid gap="md">
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Stack gap={4} component="ol" aria-label="Checkpoints" p={0} m={0} style={{ listStyle: "none" }}>
          <BranchLines branches={branches} frame={Indented}>
            {(row) => (
              <Checkpoint
                row={row}
                isChosen={chosen.includes(row.state.checkpoint?.checkpoint_id ?? "")}
                onToggle={toggle}
              />
            )}
          </BranchLines>
        </Stack>
        {history.data.length >= limit && limit < MAX_LIMIT && (
          <Button
            mt="sm"
            size="xs"
            variant="default"
            loading={history.isFetching}
            onClick={() => setLimit(Math.min(limit * 2, MAX_LIMIT))}
          >
            Show older checkpoints
          </Button>
        )}
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 7 }}>
        {chosen.length === 0 ? (
          <Alert variant="default" title="Select a checkpoint to view its state, or two to compare them" />
        ) : (
          <SelectedCheckpoints server={server} threadId={threadId} ids={chosen} states={history.data} />
        )}
      </Grid.Col>
    </Grid>
  );
}

/** A line of the tree, beside the line of its branch. */
function Indented({ depth, number, children }: { depth: number; number: number; children: ReactNode }) {
  return (
    <Box
      component="li"
      ms={Math.min(depth, 12) * 18}
      ps={8}
      py={2}
      style={{ borderInlineStart: `3px solid ${branchColor(number)}` }}
    >
      {children}
    </Box>
  );
}

function Checkpoint({ row, isChosen, onToggle }: { row: TreeRow; isChosen: boolean; onToggle: (id: string) => void }) {
  const { state, parent } = row;
  const { number, title, next } = describeStep(state, parent);
  const id = state.checkpoint?.checkpoint_id ?? "";
  return (
    <Group gap={6} wrap="nowrap">
      <Checkbox
        size="xs"
        checked={isChosen}
        onChange={() => onToggle(id)}
        label={
          <>
            {number >= 0 && (
              <Text span size="xs" c="dimmed" className="numbers">
                {`${number} `}
              </Text>
            )}
            {title}
            {next.length > 0 && (
              <Text span size="xs" c="dimmed">
                {" "}
                → {next.join(", ")}
              </Text>
            )}
          </>
        }
      />
      <TimeText at={state.created_at} size="xs" c="dimmed" ms="auto" />
    </Group>
  );
}

interface SelectedCheckpointsProps {
  server: string;
  threadId: string;
  ids: string[];
  states: readonly State[];
}

function SelectedCheckpoints({ server, threadId, ids, states }: SelectedCheckpointsProps) {
  const find = (id: string | undefined) => states.find(({ checkpoint }) => checkpoint?.checkpoint_id === id);
  const [a, b] = ids;
  const first = useQuery({ ...stateQuery(server, threadId, a!), enabled: find(a) === undefined });
  const second = useQuery({
    ...stateQuery(server, threadId, b ?? ""),
    enabled: b !== undefined && find(b) === undefined,
  });
  const [stateA, stateB] = [find(a) ?? first.data, b === undefined ? undefined : (find(b) ?? second.data)];
  if (!stateA || (b !== undefined && !stateB))
    return <LoadState query={[first, second]} title="Could not load the checkpoint" />;
  if (stateB) {
    // the older one is the baseline
    const [before, after] = a! < b! ? [stateA, stateB] : [stateB, stateA];
    return (
      <Stack gap="xs">
        <Title order={2} size="h5">
          Changes from older to newer
        </Title>
        <Suspense fallback={<Loading />}>
          <DiffView before={before.values} after={after.values} names={["older", "newer"]} />
        </Suspense>
      </Stack>
    );
  }
  const runId = (stateA.metadata as { run_id?: string } | null)?.run_id;
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Title order={2} size="h5">
          Checkpoint
        </Title>
        <Text size="xs" ff="monospace" style={{ overflowWrap: "anywhere" }}>
          {a}
        </Text>
        <CopyButton value={a!} label="Copy checkpoint ID" />
        <ButtonLink
          to="/a/$server/playground"
          params={{ server }}
          search={{ thread: threadId, checkpoint: a!, panel: "steps" }}
          size="compact-sm"
          variant="default"
        >
          Fork in playground
        </ButtonLink>
      </Group>
      {runId && (
        <Text size="sm">
          Written by{" "}
          <AnchorLink to="." search={{ tab: "runs" }}>
            run {runId.slice(-8)}
          </AnchorLink>
          {" · "}
          <TraceLink runId={runId} label="View trace" />
        </Text>
      )}
      <JsonView key={a} value={stateA.values} label="values" maxHeight="32rem" />
      <Title order={3} size="h6">
        Metadata and tasks
      </Title>
      <JsonView
        key={`${a} rest`}
        value={{ metadata: stateA.metadata, next: stateA.next, tasks: stateA.tasks }}
        label="metadata and tasks"
      />
    </Stack>
  );
}
