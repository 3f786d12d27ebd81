import { NumberInput, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { notifyDone } from "../../ui/notify.ts";
import type { Run } from "./run-record.ts";

interface FeedbackOnRunsProps {
  projectId: string;
  runs: readonly Run[];
  onClose: () => void;
}

/** Form for the same feedback on several runs. */
export function FeedbackOnRuns({ projectId, runs, onClose }: FeedbackOnRunsProps) {
  const client = useQueryClient();
  const form = useForm({ initialValues: { key: "user_score", score: "" as number | string, comment: "" } });
  const { key, score, comment } = form.values;
  const add = async () => {
    for (const { id, trace_id: trace } of runs) {
      const body = {
        key: key.trim(),
        run_id: id,
        ...(trace != null && { trace_id: trace }),
        session_id: projectId,
        score: score === "" ? null : Number(score),
        value: null,
        comment: comment.trim() || null,
        correction: null,
        feedback_source: { type: "app" as const },
      };
      await data(traceApi.POST("/api/v1/feedback", { body }));
    }
    onClose();
    notifyDone(`Feedback added to ${runs.length === 1 ? "1 run" : `${runs.length} runs`}`);
    await client.invalidateQueries({ queryKey: ["runs"] });
    await client.invalidateQueries({ queryKey: ["feedback"] });
  };
  return (
    <FormModal
      title={`Add feedback to ${runs.length === 1 ? "1 run" : `${runs.length} runs`}`}
      action="Add"
      size="md"
      failure="Could not save the feedback"
      form={form}
      isReady={key.trim() !== "" && (score !== "" || comment.trim() !== "")}
      onSubmit={add}
      onClose={onClose}
    >
      <TextInput label="Key" required maxLength={180} {...form.getInputProps("key")} />
      <NumberInput label="Score" {...form.getInputProps("score")} />
      <Textarea label="Comment" autosize minRows={2} maxRows={8} {...form.getInputProps("comment")} />
    </FormModal>
  );
}
