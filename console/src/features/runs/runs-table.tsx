import { Anchor, Button, Checkbox, Group, Switch, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useMemo, useState } from "react";

import { inOrder } from "../../ui/column-order.ts";
import { ColumnPicker } from "../../ui/column-picker.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { count, money, percent, seconds, tokens } from "../../ui/format.ts";
import { ButtonLink } from "../../ui/links.tsx";
import { LoadedList } from "../../ui/load-state.tsx";
import { RUN_COLUMNS, RUN_SORTS, runColumns } from "./run-columns.tsx";
import { isNewestFirst, RUN_SEARCH, type RunSearch } from "./run-search.ts";
import { FeedbackSort, feedbackSort, scoredKeys } from "./feedback-sort.tsx";
import { RunSelection } from "./run-selection.tsx";
import { LIVE_MS, runStatsQuery } from "./queries.ts";
import classes from "./runs-table.module.css";
import { useFirstPage } from "./use-first-page.ts";
import { filterOfSearch } from "../rules/describe-rule.ts";
import { useLiveRuns } from "./use-live-runs.ts";
import { useRunColumns } from "./use-run-columns.ts";
import { TracingSample } from "../samples/sample-parts.tsx";
import { projectQuery } from "../projects/queries.ts";

const AddToQueue = lazy(async () => ({
  default: (await import("../annotation-queues/add-to-queue.tsx")).AddToQueue,
}));

const RuleForm = lazy(async () => ({ default: (await import("../rules/rule-form.tsx")).RuleForm }));

const CHOOSABLE = RUN_COLUMNS.filter(([id]) => id !== "name").map(([id, label]) => ({ id, label }));

const columnOfSort = (sort: RunSearch["sort"]): string =>
  sort.startsWith("feedback:")
    ? "feedback"
    : (Object.keys(RUN_SORTS).find((id) => RUN_SORTS[id] === sort) ?? "start_time");

interface RunsTableProps {
  projectId: string;
  search: RunSearch;
  onChange: (changes: Partial<RunSearch>) => void;
}

export function RunsTable({ projectId, search, onChange }: RunsTableProps) {
  const navigate = useNavigate();
  const { found, runs, isLive, liveError } = useLiveRuns(projectId, search);
  const { hidden, order, setHidden, setOrder } = useRunColumns(search, onChange);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const toggle = ({ id }: { id: string }) =>
    setSelected((before) =>
      before.has(id) ? new Set([...before].filter((other) => other !== id)) : new Set([...before, id]),
    );
  const scored = useMemo(() => scoredKeys(runs), [runs]);
  const chosen = runs.filter(({ id }) => selected.has(id));
  const columns = useMemo(() => {
    const all = chosen.length > 0 && chosen.length === runs.length;
    const select: Column<(typeof runs)[number]> = {
      id: "select",
      label: "Selected",
      width: "34px",
      header: (
        <Checkbox
          size="xs"
          aria-label="Select all loaded runs"
          checked={all}
          indeterminate={chosen.length > 0 && !all}
          onChange={() => setSelected(new Set(all ? [] : runs.map(({ id }) => id)))}
        />
      ),
      cell: (run) => (
        <Checkbox
          size="xs"
          tabIndex={-1}
          aria-label={`Select ${run.name || run.id}`}
          checked={selected.has(run.id)}
          onChange={() => toggle(run)}
        />
      ),
    };
    const [name, ...others] = runColumns(projectId, search.tab);
    return [select, name!, ...inOrder(others, order)];
  }, [projectId, search.tab, selected, runs, order]);
  return (
    <>
      <Group gap="xs" mb="xs" justify="space-between" mih={30}>
        {chosen.length > 0 ? (
          <RunSelection projectId={projectId} runs={chosen} onClear={() => setSelected(new Set())} />
        ) : (
          <Statistics projectId={projectId} search={search} isLive={isLive} />
        )}
        <Group gap="sm" className={classes["actions"]!}>
          <ListReview projectId={projectId} search={search} isEmpty={runs.length === 0} />
          <Switch
            size="xs"
            label="Live"
            checked={search.live}
            disabled={!isNewestFirst(search)}
            onChange={({ currentTarget: { checked } }) => onChange({ live: checked })}
          />
          <FeedbackSort search={search} keys={scored} onChange={onChange} />
          <ColumnPicker columns={inOrder(CHOOSABLE, order)} hidden={hidden} onChange={setHidden} onOrder={setOrder} />
        </Group>
      </Group>
      {liveError && (
        <Text size="xs" c="var(--heddle-danger)" role="status">
          Could not load new runs: {liveError.message}
        </Text>
      )}
      <LoadedList
        query={found}
        rows={12}
        list={runs}
        empty={<NoRuns projectId={projectId} search={search} onChange={onChange} />}
      >
        <DataTable
          label="Runs"
          columns={columns}
          rows={runs}
          rowKey={({ id }) => id}
          hidden={hidden}
          isSelected={({ id }) => selected.has(id)}
          onToggle={toggle}
          sort={{ id: columnOfSort(search.sort), desc: search.desc }}
          onSort={({ id, desc }) => {
            const sort = id === "feedback" ? feedbackSort(search.sort, scored) : RUN_SORTS[id];
            if (sort !== undefined) onChange({ sort, desc });
          }}
          onOpen={({ id }) => void navigate({ to: "/projects/$projectId/r/$runId", params: { projectId, runId: id } })}
          pages={found}
          maxHeight="max(320px, calc(100dvh - 330px))"
        />
      </LoadedList>
    </>
  );
}

/** Review of the list's runs one after another, or in a queue; and a rule for those to come. */
function ListReview({ projectId, search, isEmpty }: { projectId: string; search: RunSearch; isEmpty: boolean }) {
  const navigate = useNavigate();
  const [isAdding, setAdding] = useState(false);
  const [isRuling, setRuling] = useState(false);
  return (
    <>
      <ButtonLink
        to="/projects/$projectId/review"
        params={{ projectId }}
        search={search}
        size="compact-sm"
        variant="default"
        disabled={isEmpty}
      >
        Review next
      </ButtonLink>
      <Button size="compact-sm" variant="default" disabled={isEmpty} onClick={() => setAdding(true)}>
        Add all to queue
      </Button>
      <Button size="compact-sm" variant="default" onClick={() => setRuling(true)}>
        Create rule
      </Button>
      {isRuling && (
        <Suspense>
          <RuleForm
            projectId={projectId}
            filter={filterOfSearch(search)}
            traceFilter={search.trace_filter}
            treeFilter={search.tree_filter}
            onSaved={(ruleId) => navigate({ to: "/rules/$ruleId", params: { ruleId } })}
            onClose={() => setRuling(false)}
          />
        </Suspense>
      )}
      {isAdding && (
        <Suspense>
          <AddToQueue runs={{ projectId, search }} onClose={() => setAdding(false)} />
        </Suspense>
      )}
    </>
  );
}

/** Statistics of all selected runs, loaded or not. */
function Statistics({ projectId, search, isLive }: { projectId: string; search: RunSearch; isLive: boolean }) {
  const hasFirstPage = useFirstPage(projectId, search);
  const { data } = useQuery({
    ...runStatsQuery(projectId, search),
    enabled: hasFirstPage,
    refetchInterval: isLive ? LIVE_MS * 3 : false,
  });
  const noun = search.tab === "traces" ? "trace" : search.tab === "llm" ? "call" : "run";
  const statistics: [string, string][] = [
    [data?.run_count === 1 ? noun : `${noun}s`, count(data?.run_count)],
    ["errors", percent(data?.error_rate)],
    ["P50", seconds(data?.latency_p50)],
    ["P99", seconds(data?.latency_p99)],
    ["tokens", tokens(data?.total_tokens)],
    ["cost", money(data?.total_cost)],
  ];
  return (
    <Group gap="md" aria-label="Metrics">
      {statistics.map(([name, value]) => (
        <Text key={name} size="sm" className="numbers">
          {value}{" "}
          <Text span inherit c="dimmed">
            {name}
          </Text>
        </Text>
      ))}
    </Group>
  );
}

function NoRuns({ projectId, search, onChange }: RunsTableProps) {
  const { filter, trace_filter, tree_filter, text } = search;
  const isFiltered = [filter, trace_filter, tree_filter, text].some((value) => value.trim() !== "");
  const { filter: none } = RUN_SEARCH;
  const { data: project } = useQuery(projectQuery(projectId));
  if (isFiltered) {
    return (
      <Empty title="No runs match these filters">
        <Anchor
          component="button"
          size="sm"
          onClick={() => onChange({ filter: none, trace_filter: none, tree_filter: none, text: none })}
        >
          Clear filters
        </Anchor>
      </Empty>
    );
  }
  return (
    <Empty title="No runs in this time range">
      <Text size="sm" maw={560}>
        Choose a longer time range, or send runs to this project:
      </Text>
      {project && <TracingSample project={project.name} />}
    </Empty>
  );
}
