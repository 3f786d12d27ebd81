/**
 * A thread's conversation through the official React hook, together with a poll of the thread: runs of other clients
 * are joined when they start, an interrupted stream is resumed as soon as the server responds, and a reload finds the
 * active run.
 */
import { useStream } from "@langchain/langgraph-sdk/react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";

import { interruptedCountQuery } from "../../app/queries.ts";
import { copyCheckpoint } from "../interrupts/answer-thread.ts";
import { notifyFailure } from "../../ui/notify.ts";
import { type Checkpoint, historyQuery, runsQuery, type State, threadKey, threadQuery } from "../threads/queries.ts";
import { observedClient } from "./observed-client.ts";
import type { Watcher } from "./watcher.ts";

export type Strategy = "enqueue" | "reject" | "interrupt" | "rollback";

/** Options of every run of this page besides its input. */
export interface Setup {
  config?: Record<string, unknown>;
  context?: Record<string, unknown>;
  interruptBefore?: string[];
  interruptAfter?: string[];
  isStepping?: boolean;
}

export interface Send {
  input?: Record<string, unknown> | null;
  /** Null: the thread's newest state. */
  from: Omit<Checkpoint, "thread_id"> | null;
  resume?: { value: unknown };
  /** Whether the run stops before the next node; default: as the setup says. */
  isStep?: boolean;
  /** Values shown until the server has responded. */
  optimistic?: Record<string, unknown>;
}

interface Options {
  server: string;
  assistantId: string;
  threadId: string | null;
  setup: Setup;
  strategy: Strategy;
  watcher: Watcher;
  messagesKey: string;
  onThread: (threadId: string) => void;
  /** Called when the run failed or was rejected: the hook's values are stale. */
  onFailure: (error: Error) => void;
}

const POLL_MS = 2_000;
const MODES = ["values", "messages-tuple", "updates", "tasks", "custom"] as const;

export function useRun({
  server,
  assistantId,
  threadId,
  setup,
  strategy,
  watcher,
  messagesKey,
  onThread,
  onFailure,
}: Options) {
  const queryClient = useQueryClient();
  const client = useMemo(() => observedClient(server, watcher.take), [server, watcher]);
  const [lost, setLost] = useState<{ runId: string; at: number } | null>(null);

  const isOn = threadId !== null;
  const history = useQuery({ ...historyQuery(server, threadId ?? ""), enabled: isOn });
  const row = useQuery({ ...threadQuery(server, threadId ?? ""), enabled: isOn, refetchInterval: POLL_MS });
  const mutate = async (id?: string) => {
    const wanted = id ?? threadId;
    if (wanted === null) return [];
    return await queryClient.fetchQuery({ ...historyQuery(server, wanted), staleTime: 0 });
  };
  const stream = useStream<Record<string, unknown>>({
    client,
    assistantId,
    threadId,
    onThreadId: onThread,
    messagesKey,
    fetchStateHistory: true,
    throttle: true,
    thread: {
      data: isOn ? history.data : [],
      error: history.error ?? undefined,
      isLoading: isOn && history.isPending,
      mutate,
    },
    onError(error) {
      const { runId, hasFailed } = watcher;
      const wasRejected = typeof (error as { status?: unknown }).status === "number";
      if (!hasFailed && !wasRejected && runId !== null) return setLost({ runId, at: Date.now() });
      setLost(null);
      if (runId !== null && hasFailed) watcher.ended.add(runId);
      watcher.rest();
      onFailure(error as Error);
    },
  });
  const { isLoading } = stream;
  const runs = useQuery({
    ...runsQuery(server, threadId ?? "", 10),
    enabled: isOn,
    refetchInterval: isLoading || row.data?.status === "busy" ? POLL_MS : false,
  });

  // a completed stream is not joined again, though a poll may still report its run as running
  const wasLoading = useRef(false);
  useEffect(() => {
    if (wasLoading.current && !isLoading) {
      watcher.rest();
      if (lost === null && watcher.runId !== null) watcher.ended.add(watcher.runId);
      if (threadId !== null) void queryClient.invalidateQueries({ queryKey: [...threadKey(server, threadId), "runs"] });
      if (threadId !== null) void row.refetch();
      void queryClient.invalidateQueries({ queryKey: interruptedCountQuery(server).queryKey });
    }
    wasLoading.current = isLoading;
  }, [isLoading]);

  const { status, updated_at: updatedAt } = row.data ?? {};
  const seen = useRef<string | undefined>(undefined);
  useEffect(() => {
    const moment = updatedAt && `${threadId} ${status} ${updatedAt}`;
    if (moment !== undefined && seen.current !== undefined && seen.current !== moment && threadId !== null) {
      void queryClient.invalidateQueries({ queryKey: [...threadKey(server, threadId), "runs"] });
      if (!isLoading) void history.refetch();
    }
    seen.current = moment;
  }, [threadId, status, updatedAt]);

  const running = runs.data?.find((run) => run.status === "running" && !watcher.ended.has(run.run_id))?.run_id;
  const isBack = lost !== null && row.dataUpdatedAt > lost.at;
  useEffect(() => {
    if (isLoading || threadId === null) return;
    const target = lost === null ? running : isBack ? lost.runId : undefined;
    if (target === undefined) return;
    setLost(null);
    void stream.joinStream(target, watcher.positionIn(target));
  }, [running, isBack, isLoading, threadId]);

  const send = async ({ input, from, resume, optimistic, isStep }: Send) => {
    const command = resume && { resume: resume.value };
    const { isStepping = false, ...options } = setup;
    const shared = {
      ...(options as object),
      ...((isStep ?? isStepping) && { interruptBefore: "*" as const }),
      streamMode: [...MODES],
      streamSubgraphs: true,
      streamResumable: true,
      onDisconnect: "continue" as const,
      multitaskStrategy: strategy,
    };
    if (isLoading && threadId !== null && (strategy === "enqueue" || strategy === "reject")) {
      const payload = { ...shared, input: input ?? null, ...(command && { command }) };
      await client.runs
        .create(threadId, assistantId, { ...payload, ...(from?.checkpoint_id && { checkpointId: from.checkpoint_id }) })
        .catch(notifyFailure("Could not start the run"));
      await runs.refetch();
      return;
    }
    if (isLoading && watcher.runId !== null) watcher.ended.add(watcher.runId);
    watcher.clear();
    // the run of an earlier answer has failed
    if (resume && threadId !== null && (await row.refetch()).data?.status === "error") {
      await copyCheckpoint(server, threadId).catch(notifyFailure("Could not copy the checkpoint"));
    }
    await stream.submit(input ?? null, {
      ...shared,
      checkpoint: from && { ...from },
      ...(command && { command }),
      ...(optimistic && { optimisticValues: optimistic }),
    });
  };

  /** Cancels a run, active or queued. */
  const cancel = async (runId: string) => {
    if (threadId === null) return;
    await client.runs.cancel(threadId, runId, true).catch(notifyFailure("Could not cancel the run"));
    if (runId === watcher.runId) await stream.stop();
    await runs.refetch();
  };

  return {
    stream,
    send,
    cancel,
    isDisconnected: lost !== null,
    thread: row.data,
    threadError: row.error,
    runs: runs.data ?? [],
    /** Newest first. */
    states: (isOn ? history.data : undefined) ?? ([] as State[]),
    refresh: () => mutate(),
  };
}

export type RunControls = ReturnType<typeof useRun>;
