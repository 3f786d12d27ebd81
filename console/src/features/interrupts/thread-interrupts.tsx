import { Button, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";

import { notifyDone, notifyFailure } from "../../ui/notify.ts";
import { type Thread, threadKey } from "../threads/queries.ts";
import { answerThread, copyCheckpoint, earlyFailure } from "./answer-thread.ts";
import { type Interrupt, InterruptCard } from "./interrupt-card.tsx";

interface ThreadInterruptsProps {
  server: string;
  thread: Pick<Thread, "thread_id" | "metadata" | "interrupts" | "status">;
  /** Called before the lists are renewed when an answer's run has failed, so that the question can be kept. */
  onFailure?: () => void;
  /** Called when the run continues after an answer. */
  onResumed?: () => void;
}

/** A thread's interrupts, answered in place; the run then resumes in the background. */
export function ThreadInterrupts({ server, thread, onFailure, onResumed }: ThreadInterruptsProps) {
  const queryClient = useQueryClient();
  const answer = useMutation({
    async mutationFn(resume: { value: unknown } | undefined): Promise<string | null> {
      const hasFailed = thread.status === "error" || typeof answer.data === "string";
      if (hasFailed && resume) await copyCheckpoint(server, thread.thread_id);
      const { run_id: runId } = await answerThread(server, thread, resume);
      return await earlyFailure(server, thread.thread_id, runId);
    },
    async onSuccess(failure) {
      if (failure === null) {
        notifyDone("Run resumed");
        onResumed?.();
      } else {
        notifyFailure("The run failed after this answer")(new Error(`${failure}. The question can be answered again.`));
        onFailure?.();
      }
      await queryClient.invalidateQueries({ queryKey: ["agent", server, "threads"] });
      await queryClient.invalidateQueries({ queryKey: threadKey(server, thread.thread_id) });
    },
    onError: notifyFailure("Could not resume the run"),
  });
  const interrupts = Object.values(thread.interrupts ?? {}).flat() as Interrupt[];
  if (interrupts.length === 0) {
    return (
      <Group gap="xs">
        <Text size="sm">The run was interrupted without a pending question.</Text>
        <Button size="compact-sm" loading={answer.isPending} onClick={() => answer.mutate(undefined)}>
          Continue
        </Button>
      </Group>
    );
  }
  return (
    <Stack gap="xs">
      {interrupts.map((interrupt, index) => (
        <InterruptCard
          key={interrupt.id ?? index}
          interrupt={interrupt}
          isBusy={answer.isPending}
          onAnswer={(value) => {
            const isOneOfMany = interrupts.length > 1 && interrupt.id !== undefined;
            answer.mutate({ value: isOneOfMany ? { [interrupt.id!]: value } : value });
          }}
        />
      ))}
    </Stack>
  );
}
