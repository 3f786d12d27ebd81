import type { Assistant } from "@langchain/langgraph-sdk";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useMemo, useState, useSyncExternalStore } from "react";

import { LoadState } from "../../ui/load-state.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import type { JsonSchema } from "../../ui/schema-form/schema.ts";
import { drawingQuery, type State, stateQuery, schemasQuery } from "../threads/queries.ts";
import { branchAt } from "./branches.ts";
import { findMessagesKey } from "./compose-input.ts";
import { Composer } from "./composer.tsx";
import classes from "./playground.module.css";
import { readSetup, type SetupDraft } from "./read-setup.ts";
import { RunBar } from "./run-bar.tsx";
import { type Panel, SidePanel } from "./side-panel.tsx";
import { storedAgents } from "./stored-agents.ts";
import { ThreadView } from "./thread-view.tsx";
import { type Send, type Setup, type Strategy, useRun } from "./use-run.ts";
import type { Watcher } from "./watcher.ts";

const EditState = lazy(async () => ({ default: (await import("./edit-state.tsx")).EditState }));

export interface Place {
  thread?: string | undefined;
  checkpoint?: string | undefined;
  panel?: Panel | undefined;
}

interface WorkbenchProps {
  server: string;
  assistant: Assistant;
  place: Place;
  onNavigate: (to: Place, replace?: boolean) => void;
  watcher: Watcher;
  draft: SetupDraft;
  onDraft: (draft: SetupDraft) => void;
  strategy: Strategy;
  onStrategy: (strategy: Strategy) => void;
  problem: Error | null;
  /** An error reloads the view from the server's states; null dismisses the error. */
  onProblem: (problem: Error | null) => void;
}

/** One assistant and one thread: conversation, graph, steps. */
export function Workbench(props: WorkbenchProps) {
  const { server, assistant, place, onNavigate, watcher, draft, strategy, problem, onProblem } = props;
  const { assistant_id: assistantId } = assistant;
  const threadId = place.thread ?? null;
  const schemas = useQuery(schemasQuery(server, assistantId));
  const drawing = useQuery(drawingQuery(server, assistantId));
  const watch = useSyncExternalStore(watcher.subscribe, watcher.read);
  const [edited, setEdited] = useState<State | null>(null);

  const inputSchema = (schemas.data?.input_schema ?? {}) as JsonSchema;
  const messagesKey = findMessagesKey(inputSchema);
  const context = schemas.data?.context_schema as JsonSchema | null | undefined;
  const kind = Object.keys(context?.properties ?? {}).length > 0 ? "context" : "config";
  const { setup, setupError } = useMemo(() => trySetup(draft, kind), [draft, kind]);
  const run = useRun({
    server,
    assistantId,
    threadId,
    setup,
    strategy,
    watcher,
    messagesKey: messagesKey ?? "messages",
    onThread: (thread) => onNavigate({ ...place, thread, checkpoint: undefined }, true),
    onFailure: onProblem,
  });
  const { stream, states } = run;

  // the newest state's branch is shown until the user selects another
  const newest = states[0]?.checkpoint?.checkpoint_id ?? undefined;
  useEffect(() => {
    if (newest !== undefined) stream.setBranch(branchAt(states, newest));
  }, [newest]);

  const checkpointId = place.checkpoint;
  const loaded = states.find(({ checkpoint }) => checkpoint?.checkpoint_id === checkpointId);
  const isUnloaded = checkpointId !== undefined && threadId !== null && !loaded && !stream.isThreadLoading;
  const fetched = useQuery({ ...stateQuery(server, threadId ?? "", checkpointId ?? ""), enabled: isUnloaded });
  const viewed = checkpointId === undefined ? undefined : (loaded ?? fetched.data);

  const head = viewed ?? stream.history.at(-1);
  const from = head && (viewed || head.checkpoint?.checkpoint_id !== newest) ? (head.checkpoint ?? null) : null;
  const send = async (request: Omit<Send, "from">, origin: Send["from"] = from) => {
    if (setupError !== null) return notifyFailure("Could not send the run")(new Error(setupError));
    onProblem(null);
    if (checkpointId !== undefined) onNavigate({ ...place, checkpoint: undefined });
    await run.send({ ...request, from: origin });
  };

  if (!schemas.data) return <LoadState query={schemas} title="Could not load the graph" />;
  const isRunning = stream.isLoading;
  const nodes = (drawing.data?.nodes ?? []).map(({ id }) => String(id)).filter((id) => !/^__(start|end)__$/.test(id));
  // nodes of subgraphs are named parent:child
  const stored = storedAgents(states);
  const hasSubgraphs = watch.agents.size > 0 || stored.length > 0 || nodes.some((name) => name.includes(":"));
  // after a rejected answer the thread's status is "error", and its question is still open
  const isOpen = (stream.interrupts as { value?: unknown }[]).some(({ value }) => value !== undefined);
  const isWaiting = !isRunning && (run.thread?.status === "interrupted" || (run.thread?.status === "error" && isOpen));
  const nodeStates = new Map(watch.nodes);
  if (!isRunning) {
    for (const name of head?.next ?? []) {
      const hasFailed = head?.tasks.some((task) => task.name === name && (task.error ?? null) !== null);
      if (nodeStates.get(name) !== "failed") nodeStates.set(name, hasFailed ? "failed" : "waiting");
    }
  }
  return (
    <div className={classes.grid}>
      <section className={classes.main} aria-label="Conversation and input">
        <RunBar server={server} threadId={threadId} controls={run} activeId={watch.runId} attempt={watch.attempt} />
        <ThreadView
          run={run}
          messagesKey={messagesKey}
          viewed={viewed}
          isViewing={checkpointId !== undefined}
          head={head}
          problem={problem}
          onProblem={onProblem}
          onLatest={() => onNavigate({ ...place, checkpoint: undefined })}
          send={send}
        />
        <Composer
          schema={inputSchema}
          messagesKey={messagesKey}
          isRunning={isRunning}
          isWaiting={isWaiting}
          strategy={strategy}
          onStrategy={props.onStrategy}
          onSend={(input, added) => {
            const shown = ((head?.values as Record<string, unknown> | undefined)?.[messagesKey ?? ""] ??
              []) as unknown[];
            const optimistic = added.length > 0 ? { optimistic: { [messagesKey!]: [...shown, ...added] } } : {};
            void send({ input, ...optimistic });
          }}
        />
      </section>
      <SidePanel
        panel={place.panel ?? "graph"}
        onPanel={(panel) => onNavigate({ ...place, panel }, true)}
        drawing={drawing.data as never}
        drawingError={drawing.error}
        nodeStates={nodeStates}
        steps={{
          states,
          live: watch.steps,
          custom: watch.custom,
          viewed: checkpointId ?? null,
          isRunning,
          onView: (checkpoint) => onNavigate({ ...place, checkpoint: checkpoint ?? undefined }),
          onRunFrom: ({ checkpoint }) => void send({ input: null }, checkpoint ?? null),
          onEdit: setEdited,
        }}
        agents={hasSubgraphs ? { server, threadId, watch, stored } : undefined}
        setup={{
          schema: kind === "context" ? context! : ((schemas.data.config_schema ?? null) as JsonSchema | null),
          kind,
          nodes,
          draft,
          error: setupError,
          onChange: props.onDraft,
        }}
      />
      {edited && threadId !== null && (
        <Suspense>
          <EditState
            server={server}
            threadId={threadId}
            state={edited}
            schema={schemas.data.state_schema as JsonSchema | null | undefined}
            nodes={nodes}
            onClose={() => setEdited(null)}
            onDone={async (checkpointId, resumes) => {
              setEdited(null);
              await run.refresh();
              if (!resumes) return onNavigate({ ...place, checkpoint: undefined });
              await send({ input: null }, { checkpoint_id: checkpointId, checkpoint_ns: "", checkpoint_map: null });
            }}
          />
        </Suspense>
      )}
    </div>
  );
}

function trySetup(draft: SetupDraft, kind: "context" | "config"): { setup: Setup; setupError: string | null } {
  try {
    return { setup: readSetup(draft, kind), setupError: null };
  } catch (error) {
    return { setup: {}, setupError: (error as Error).message };
  }
}
