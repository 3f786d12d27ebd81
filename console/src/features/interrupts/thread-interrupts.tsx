import { Button, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";

import { notifyDone, notifyFailure } from "../../ui/notify.ts";
import { type Thread, threadKey } from "../threads/queries.ts";
import { answerThread } from "./answer-thread.ts";
import { type Interrupt, InterruptCard } from "./interrupt-card.tsx";

interface ThreadInterruptsProps {
  server: string;
  thread: Pick<Thread, "thread_id" | "metadata" | "interrupts">;
}

/** A thread's interrupts, answered in place; the run then resumes in the background. */
export function ThreadInterrupts({ server, thread }: ThreadInterruptsProps) {
  const queryClient = useQueryClient();
  const answer = useMutation({
    mutationFn: (resume: { value: unknown } | undefined) => answerThread(server, thread, resume),
    async onSuccess() {
      notifyDone("Run resumed");
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
