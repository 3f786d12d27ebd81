import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";

import { ApiError } from "../../api/api-error.ts";
import { Empty } from "../../ui/empty.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { FeedbackList } from "../traces/run-feedback.tsx";
import { RunPane } from "../traces/run-pane.tsx";
import { sharedRunQuery, sharedTraceQuery } from "../traces/queries.ts";
import classes from "../traces/trace-page.module.css";
import { type View } from "../traces/trace-search.ts";
import { TraceTreeView } from "../traces/trace-tree-view.tsx";
import { sharedFeedbackQuery } from "./queries.ts";
import { SharedFrame } from "./shared-frame.tsx";

/** Trace behind a public link, readable without an account. */
export function SharedTracePage() {
  const { token } = useParams({ from: "/public/$token/r" });
  const { run: chosen, view = "run" } = useSearch({ from: "/public/$token/r" });
  const navigate = useNavigate({ from: "/public/$token/r" });
  const trace = useQuery(sharedTraceQuery(token));
  const root = trace.data?.roots[0];
  const runId = chosen ?? root?.id;
  return (
    <SharedFrame title="A shared trace">
      <Page title={root?.name || "Shared trace"}>
        {trace.error ? (
          <NotShared error={trace.error} onRetry={trace.refetch} />
        ) : !trace.data || runId === undefined ? (
          <Loading rows={12} />
        ) : (
          <div className={classes.sides}>
            <div className={classes.tree}>
              <TraceTreeView
                tree={trace.data}
                selectedId={runId}
                onSelect={(run) => void navigate({ search: { run, view }, replace: true })}
              />
            </div>
            <div className={classes.pane}>
              <SharedRun
                token={token}
                runId={runId}
                view={view}
                onView={(next) => void navigate({ search: (before) => ({ ...before, view: next }), replace: true })}
              />
            </div>
          </div>
        )}
      </Page>
    </SharedFrame>
  );
}

interface SharedRunProps {
  token: string;
  runId: string;
  view: View;
  onView: (view: View) => void;
}

function SharedRun({ token, runId, view, onView }: SharedRunProps) {
  const run = useQuery({ ...sharedRunQuery(token, runId), placeholderData: keepPreviousData });
  const feedback = useQuery(sharedFeedbackQuery(token, runId));
  if (!run.data) return <LoadState query={run} rows={10} />;
  return (
    <RunPane
      run={run.data}
      view={view}
      onView={onView}
      feedback={feedback.error ? <LoadState query={feedback} /> : <FeedbackList feedback={feedback.data ?? []} />}
      feedbackCount={feedback.data?.length ?? null}
    />
  );
}

export function NotShared({ error, onRetry }: { error: Error; onRetry: () => unknown }) {
  if (!(error instanceof ApiError) || (error.status !== 404 && error.status !== 422)) {
    return <Problem error={error} onRetry={onRetry} />;
  }
  return <Empty title="Link not found">Sharing may have been stopped. Ask the owner for a new link.</Empty>;
}
