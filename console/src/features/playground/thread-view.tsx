import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { useMemo } from "react";

import { Empty } from "../../ui/empty.tsx";
import { LazyJson } from "../../ui/lazy-json.tsx";
import { Loading } from "../../ui/loading.tsx";
import { asMessages, type Message } from "../../ui/messages/message.ts";
import { Problem } from "../../ui/problem.tsx";
import { type Interrupt, InterruptCard } from "../interrupts/interrupt-card.tsx";
import { FailureAlert } from "../threads/failure-alert.tsx";
import { readFailure } from "../threads/run-failure.ts";
import { HISTORY_LIMIT, type State } from "../threads/queries.ts";
import { humanMessage, otherParts } from "./compose-input.ts";
import { Conversation } from "./conversation.tsx";
import classes from "./playground.module.css";
import { useReplyStatistics } from "./reply-statistics.tsx";
import type { RunControls, Send } from "./use-run.ts";

interface ThreadViewProps {
  run: RunControls;
  messagesKey: string | null;
  /** State selected instead of the newest. */
  viewed: State | undefined;
  isViewing: boolean;
  head: State | undefined;
  problem: Error | null;
  onProblem: (problem: Error | null) => void;
  onLatest: () => void;
  send: (request: Omit<Send, "from">, from?: Send["from"]) => Promise<unknown>;
}

/** The conversation or the state, with errors and interrupts. */
export function ThreadView({
  run,
  messagesKey,
  viewed,
  isViewing,
  head,
  problem,
  onProblem,
  onLatest,
  send,
}: ThreadViewProps) {
  const { stream, states } = run;
  const isRunning = stream.isLoading;
  const values = (isViewing ? viewed?.values : stream.values) as Record<string, unknown> | undefined;
  const list = messagesKey === null ? undefined : values?.[messagesKey];
  const messages = useMemo(() => asMessages(list) ?? [], [list]);

  const findOrigin = (message: Message, index: number) => {
    const first = stream.getMessagesMetadata(message.raw as never, index)?.firstSeenState as State | undefined;
    // the oldest of the fetched states contains all earlier messages
    const isCut = states.length >= HISTORY_LIMIT && first === states.at(-1);
    return isCut ? null : (first?.parent_checkpoint ?? null);
  };
  const renderStatistics = useReplyStatistics(run, messages);
  const getAlternatives = (message: Message, index: number) => {
    const { branch, branchOptions } = stream.getMessagesMetadata(message.raw as never, index) ?? {};
    return branch && branchOptions && branchOptions.length > 1 ? { now: branch, all: branchOptions } : null;
  };
  // only the thread reports that a limit was reached; once a later run has succeeded, no nodes are left to run
  const isStuck = run.thread?.status === "error" && (head === undefined || head.next.length > 0);
  const reported = (isStuck ? (run.thread as { error?: unknown }).error : null) ?? stream.error;
  const failure = problem || isRunning || isViewing ? null : readFailure(reported);
  const again = () => {
    onProblem(null);
    return head === undefined ? undefined : send({ input: null });
  };
  const all = isRunning ? [] : isViewing ? listInterrupts(viewed) : (stream.interrupts as Interrupt[]);
  // pending tasks of a failed run are not breakpoints
  const interrupts = all.filter(({ when, value }) => !(failure && when === "breakpoint" && value === undefined));
  const below = (
    <Stack gap="xs" mt="xs">
      {messagesKey === null && values && Object.keys(values).length > 0 && (
        <LazyJson
          key={isRunning ? "live" : head?.checkpoint?.checkpoint_id}
          value={values}
          label="State"
          maxHeight="none"
        />
      )}
      {problem && (
        <Problem
          error={problem}
          title={typeof (problem as { status?: unknown }).status === "number" ? "Run rejected" : "Run failed"}
          onRetry={again}
        />
      )}
      {failure && <FailureAlert failure={failure} title="Run failed" onRetry={again} />}
      {interrupts.map((interrupt, index) =>
        interrupt.when === "breakpoint" && interrupt.value === undefined ? (
          <Alert
            key={`${index} ${head?.checkpoint?.checkpoint_id}`}
            color="warning"
            title={`Stopped before ${(head?.next ?? []).join(", ")}`}
          >
            <Group gap="xs">
              <Button size="xs" autoFocus={!isViewing} onClick={() => void send({ input: null, isStep: true })}>
                Next step
              </Button>
              <Button size="xs" variant="default" onClick={() => void send({ input: null, isStep: false })}>
                Continue
              </Button>
            </Group>
          </Alert>
        ) : (
          <InterruptCard
            key={interrupt.id ?? index}
            interrupt={interrupt}
            node={interruptedNode(head, interrupt)}
            isBusy={isRunning}
            isForeground={!isViewing}
            takesFocus={!isViewing && index === 0}
            onAnswer={(value) => {
              const isOneOfMany = interrupts.length > 1 && interrupt.id !== undefined;
              void send({ resume: { value: isOneOfMany ? { [interrupt.id!]: value } : value } });
            }}
          />
        ),
      )}
      {isViewing && (
        <Alert color="info" title="Viewing an earlier state">
          <Group gap="xs">
            <Text size="sm">Sending a message here creates another branch.</Text>
            <Button size="compact-sm" variant="default" onClick={onLatest}>
              Back to latest
            </Button>
          </Group>
        </Alert>
      )}
    </Stack>
  );
  if (run.threadError && !run.thread) {
    return (
      <div className={classes.talk}>
        <Problem error={run.threadError} title="Could not load the thread" />
      </div>
    );
  }
  if (stream.isThreadLoading && !isRunning) {
    return (
      <div className={classes.talk}>
        <Loading rows={4} />
      </div>
    );
  }
  const isEmpty =
    messages.length === 0 && !isRunning && !failure && !problem && interrupts.length === 0 && states.length === 0;
  return (
    <Conversation
      messages={messages}
      isRunning={isRunning}
      {...(!isViewing && {
        getAlternatives,
        renderStatistics,
        onBranch: stream.setBranch,
        canRedo: (message: Message, index: number) => findOrigin(message, index) !== null,
        onEdit: (message: Message, index: number, text: string) => {
          const edited = humanMessage(text, otherParts(message.content));
          const earlier = (list as unknown[]).slice(0, index);
          const input = { [messagesKey!]: [edited] };
          void send({ input, optimistic: { [messagesKey!]: [...earlier, edited] } }, findOrigin(message, index));
        },
        onRerun: (message: Message, index: number) => {
          const earlier = (list as unknown[]).slice(0, index);
          void send({ input: null, optimistic: { [messagesKey!]: earlier } }, findOrigin(message, index));
        },
      })}
    >
      {isEmpty && (
        <Empty title={messagesKey === null ? "Run the graph" : "Start a conversation"}>
          <Text size="sm" c="dimmed" maw={420}>
            {messagesKey === null
              ? "Fill in the input below and press Run. The graph highlights active nodes, and each step's state is saved."
              : "Replies are streamed and each step is saved: edit a message, go back to a step, or fork from it."}
          </Text>
        </Empty>
      )}
      {below}
    </Conversation>
  );
}

function listInterrupts(state: State | undefined): Interrupt[] {
  const all = (state?.tasks ?? []).flatMap((task) => (task.interrupts ?? []) as Interrupt[]);
  if (all.length > 0 || (state?.next ?? []).length === 0) return all;
  return [];
}

function interruptedNode(state: State | undefined, { id }: Interrupt): string | undefined {
  return state?.tasks.find(({ interrupts }) => interrupts?.some((candidate) => (candidate as Interrupt).id === id))
    ?.name;
}
