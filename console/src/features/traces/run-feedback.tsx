import { ActionIcon, Alert, Button, Group, NumberInput, Paper, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconThumbDown, IconThumbUp, IconTrash } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { useConfirm } from "../../ui/confirm.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import type { Run } from "../runs/run-record.ts";
import { JudgedBy } from "./judged-by.tsx";
import { type Feedback, feedbackQuery } from "./queries.ts";

/** Feedback of a run, and a form to add some. */
export function RunFeedback({ run }: { run: Run }) {
  const found = useQuery(feedbackQuery(run.id));
  const client = useQueryClient();
  const { confirm, dialog } = useConfirm();
  const remove = ({ id, key }: Feedback) =>
    confirm({
      title: "Delete this feedback?",
      body: `It is removed from the averages of ${key}. This cannot be undone.`,
      action: "Delete",
      run: async () => {
        await traceApi.DELETE("/api/v1/feedback/{feedback_id}", { params: { path: { feedback_id: id } } });
        await Promise.all([
          client.invalidateQueries({ queryKey: ["feedback", run.id] }),
          client.invalidateQueries({ queryKey: ["runs"] }),
        ]);
      },
    });
  return (
    <Stack gap="md">
      <FeedbackForm run={run} />
      <LoadState query={found} rows={2} />
      {found.data && <FeedbackList feedback={found.data} onRemove={remove} />}
      {dialog}
    </Stack>
  );
}

export function FeedbackList({ feedback, onRemove }: { feedback: Feedback[]; onRemove?: (entry: Feedback) => void }) {
  if (feedback.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        No feedback yet.
      </Text>
    );
  }
  return (
    <Stack gap="xs">
      {feedback.map((entry) => (
        <Paper key={entry.id} withBorder p="xs">
          <Group gap="xs" wrap="nowrap" align="flex-start">
            <Text size="sm" fw={600} style={{ overflowWrap: "anywhere" }}>
              {entry.key}
            </Text>
            {entry.score !== null && (
              <Text size="sm" className="numbers">
                {entry.score}
              </Text>
            )}
            {entry.value != null && (
              <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                {typeof entry.value === "string" ? entry.value : JSON.stringify(entry.value)}
              </Text>
            )}
            <Group gap={6} ms="auto" wrap="nowrap">
              <Text size="xs" c="dimmed">
                {entry.feedback_source?.user_name ?? entry.feedback_source?.type}
              </Text>
              <TimeText at={entry.created_at} size="xs" c="dimmed" />
              {onRemove && (
                <ActionIcon
                  variant="subtle"
                  color="neutral"
                  size="sm"
                  aria-label={`Delete feedback ${entry.key}`}
                  onClick={() => onRemove(entry)}
                >
                  <IconTrash size={14} />
                </ActionIcon>
              )}
            </Group>
          </Group>
          {entry.comment && (
            <Text size="sm" mt={4} style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
              {entry.comment}
            </Text>
          )}
          <JudgedBy entry={entry} canCorrect={onRemove !== undefined} />
          {entry.correction != null && (
            <Text size="xs" mt={4} c="dimmed" ff="monospace" style={{ overflowWrap: "anywhere" }}>
              Correction: {typeof entry.correction === "string" ? entry.correction : JSON.stringify(entry.correction)}
            </Text>
          )}
        </Paper>
      ))}
    </Stack>
  );
}

function FeedbackForm({ run }: { run: Run }) {
  const client = useQueryClient();
  const form = useForm({
    initialValues: { key: "user_score", score: "" as number | string, value: "", comment: "" },
  });
  const { key, score, value, comment } = form.values;
  const submit = useMutation({
    mutationFn: (request: { score: number | null }) =>
      data(
        traceApi.POST("/api/v1/feedback", {
          body: {
            key: key.trim(),
            run_id: run.id,
            trace_id: run.trace_id,
            session_id: run.session_id,
            score: request.score,
            value: value.trim() || null,
            comment: comment.trim() || null,
            correction: null,
            feedback_source: { type: "app" },
          },
        }),
      ),
    onSuccess: async () => {
      form.setValues({ score: "", value: "", comment: "" });
      await Promise.all([
        client.invalidateQueries({ queryKey: ["feedback", run.id] }),
        client.invalidateQueries({ queryKey: ["runs"] }),
      ]);
    },
  });
  const typed = score === "" ? null : Number(score);
  const comments = useRef<HTMLTextAreaElement>(null);
  const pick = (picked: number | null) => {
    form.setFieldValue("score", picked ?? "");
    if (picked !== null) comments.current?.focus();
  };
  const isEmpty = typed === null && value.trim() === "" && comment.trim() === "";
  return (
    <form aria-label="Add feedback" onSubmit={form.onSubmit(() => submit.mutate({ score: typed }))}>
      <Stack gap="xs">
        <Group gap="xs" align="flex-end">
          <TextInput label="Key" size="xs" required w={150} maxLength={180} {...form.getInputProps("key")} />
          <NumberInput label="Score" size="xs" w={90} {...form.getInputProps("score")} />
          <TextInput label="Value" size="xs" w={130} {...form.getInputProps("value")} />
          <Thumb label="Thumbs up, score 1" score={1} picked={typed} onPick={pick} icon={IconThumbUp} />
          <Thumb label="Thumbs down, score 0" score={0} picked={typed} onPick={pick} icon={IconThumbDown} />
        </Group>
        <Textarea
          ref={comments}
          label="Comment"
          size="xs"
          autosize
          minRows={1}
          maxRows={8}
          {...form.getInputProps("comment")}
        />
        {submit.error && (
          <Alert color="danger" role="alert" title="Could not save the feedback">
            {submit.error.message}
          </Alert>
        )}
        <Group>
          <Button type="submit" size="xs" disabled={isEmpty || key.trim() === ""} loading={submit.isPending}>
            Add feedback
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface ThumbProps {
  label: string;
  score: number;
  picked: number | null;
  onPick: (score: number | null) => void;
  icon: typeof IconThumbUp;
}

/** Sets the score of the form, so that a comment is sent with it; again to take it back. */
function Thumb({ label, score, picked, onPick, icon: Icon }: ThumbProps) {
  const isPicked = picked === score;
  return (
    <ActionIcon
      variant={isPicked ? "filled" : "default"}
      size={30}
      aria-label={label}
      aria-pressed={isPicked}
      onClick={() => onPick(isPicked ? null : score)}
    >
      <Icon size={16} />
    </ActionIcon>
  );
}
