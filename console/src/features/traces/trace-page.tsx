import { Anchor, Breadcrumbs, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";

import { AnchorLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { noteTraceOpened } from "../home/first-steps.ts";
import { projectQuery } from "../projects/queries.ts";
import type { Run } from "../runs/run-record.ts";
import { AWAIT_RUN } from "./await-run.ts";
import { MarkedRun } from "./marked-run.tsx";
import { RunActions } from "./run-actions.tsx";
import { RunFeedback } from "./run-feedback.tsx";
import { PromptOrigin } from "./prompt-origin.tsx";
import { RunOrigin } from "./run-origin.tsx";
import { RunPane } from "./run-pane.tsx";
import { feedbackQuery, runPlaceQuery, runQuery, traceQuery } from "./queries.ts";
import classes from "./trace-page.module.css";
import { TraceKeys } from "./trace-keys.tsx";
import { TraceTreeView } from "./trace-tree-view.tsx";

/** A run within its trace. The URL names the run, and the run names its trace. */
export function TracePage() {
  const { projectId, runId } = useParams({ from: "/_shell/projects/$projectId/r/$runId" });
  const { view = "run", poll } = useSearch({ from: "/_shell/projects/$projectId/r/$runId" });
  const navigate = useNavigate({ from: "/projects/$projectId/r/$runId" });
  const client = useQueryClient();
  const project = useQuery(projectQuery(projectId));
  const place = useQuery({ ...runPlaceQuery(projectId, runId), ...(poll && AWAIT_RUN) });
  const isAwaited = poll === true && place.isPending;
  const trace = useQuery({
    ...traceQuery(projectId, place.data?.traceId ?? ""),
    enabled: place.data !== undefined,
    placeholderData: keepPreviousData,
  });
  const select = (id: string) => {
    if (place.data) client.setQueryData(runPlaceQuery(projectId, id).queryKey, { ...place.data, runId: id });
    void navigate({ params: { projectId, runId: id }, search: (before) => before, replace: true });
  };
  // the URL named the trace
  const found = place.data?.runId;
  useEffect(() => {
    if (found !== undefined && found !== runId) select(found);
  }, [found, runId]);
  useEffect(() => {
    if (trace.data) noteTraceOpened();
  }, [trace.data !== undefined]);
  const root = trace.data?.roots.find(({ parentId }) => parentId === null);
  const isRootless = trace.data !== undefined && trace.data.byId.size > 0 && root === undefined;
  return (
    <Page
      title={(root ?? trace.data?.roots[0])?.name || "Trace"}
      actions={trace.data && <TraceKeys tree={trace.data} selectedId={runId} onSelect={select} />}
    >
      <Breadcrumbs mb="xs" mt={-12} separatorMargin={6}>
        <AnchorLink to="/projects" size="sm">
          Traces
        </AnchorLink>
        <AnchorLink to="/projects/$projectId" params={{ projectId }} size="sm">
          {project.data?.name ?? "Project"}
        </AnchorLink>
        <Anchor size="sm" c="dimmed" underline="never" component="span">
          {runId.slice(-8)}
        </Anchor>
      </Breadcrumbs>
      {isAwaited && place.failureCount > 0 && (
        <Text size="sm" c="dimmed" role="status" mb="sm">
          This run has not arrived yet. The page updates when it does.
        </Text>
      )}
      {isRootless && (
        <Text size="sm" c="dimmed" role="status" mb="sm">
          The root of this trace has not arrived in this project. Its earliest run stands in for it.
        </Text>
      )}
      <MarkedRun run={trace.data?.byId.get(runId)} />
      {(place.error ?? trace.error) && !trace.data ? (
        <LoadState query={[place, trace]} />
      ) : (
        <div className={classes.sides}>
          <div className={classes.tree}>
            {trace.data ? (
              <TraceTreeView key={place.data?.traceId} tree={trace.data} selectedId={runId} onSelect={select} />
            ) : (
              <Loading rows={12} />
            )}
          </div>
          <div className={classes.pane}>
            {isAwaited ? (
              <Loading rows={10} />
            ) : (
              <Selected
                runId={runId}
                view={view}
                onView={(next) => void navigate({ search: { view: next }, replace: true })}
              />
            )}
          </div>
        </div>
      )}
    </Page>
  );
}

type PaneProps = Parameters<typeof RunPane>[0];

function Selected({ runId, view, onView }: { runId: string } & Pick<PaneProps, "view" | "onView">) {
  // keyboard navigation through the tree does not load each run on the way
  const [settled] = useDebouncedValue(runId, 120);
  const run = useQuery({ ...runQuery(settled), placeholderData: keepPreviousData });
  const feedback = useQuery(feedbackQuery(settled));
  if (!run.data) return <LoadState query={run} rows={10} />;
  const current: Run = run.data;
  return (
    <RunPane
      run={current}
      view={view}
      onView={onView}
      actions={<RunActions run={current} />}
      origin={
        <>
          <RunOrigin run={current} />
          <PromptOrigin run={current} />
        </>
      }
      feedback={<RunFeedback key={current.id} run={current} />}
      feedbackCount={feedback.data?.length ?? null}
    />
  );
}
