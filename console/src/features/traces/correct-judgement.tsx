import { Button, Group, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { traceApi } from "../../api/clients.ts";
import { notifyFailure } from "../../ui/notify.ts";
import type { Feedback } from "./queries.ts";

/** Corrects the judgement of an evaluator: a score, or the name of a category. */
export function CorrectJudgement({ entry }: { entry: Feedback }) {
  const client = useQueryClient();
  const [text, setText] = useState<string | null>(null);
  const save = useMutation({
    mutationFn: async (right: string) => {
      const correction = Number.isNaN(Number(right)) ? { value: right } : { score: Number(right) };
      const params = { path: { feedback_id: entry.id } };
      await traceApi.PATCH("/api/v1/feedback/{feedback_id}", { params, body: { correction } });
      await client.invalidateQueries({ queryKey: ["feedback", entry.run_id] });
    },
    onSuccess: () => setText(null),
    onError: notifyFailure("Could not save the correction"),
  });
  if (text === null) {
    // most judgements are yes or no
    const other = entry.score === 0 || entry.score === 1 ? String(1 - entry.score) : "";
    return (
      <Button size="compact-xs" variant="subtle" color="neutral" onClick={() => setText(other)}>
        Correct
      </Button>
    );
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") save.mutate(text.trim());
      }}
    >
      <Group gap={4} wrap="nowrap">
        <TextInput
          size="xs"
          w={120}
          autoFocus
          aria-label={`Right score of ${entry.key}`}
          placeholder="Score or category"
          value={text}
          onChange={({ currentTarget: { value } }) => setText(value)}
        />
        <Button type="submit" size="compact-xs" disabled={text.trim() === ""} loading={save.isPending}>
          Save
        </Button>
        <Button size="compact-xs" variant="subtle" color="neutral" onClick={() => setText(null)}>
          Cancel
        </Button>
      </Group>
    </form>
  );
}
