import { ActionIcon, Tooltip } from "@mantine/core";
import { IconThumbDown, IconThumbUp } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";

import { lazy, Suspense } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { notifyFailure } from "../../ui/notify.ts";
import type { GivenFeedback } from "../threads/queries.ts";

const RunComment = lazy(async () => ({ default: (await import("./run-comment.tsx")).RunComment }));

const KEY = "user_score";

/** Thumbs that give feedback on the run that wrote a reply: the other thumb replaces it, the same one deletes it. */
export function RunThumbs({ runId, feedback }: { runId: string; feedback: GivenFeedback[] }) {
  const client = useQueryClient();
  const given = feedback.find(({ key, score }) => key === KEY && (score === 0 || score === 1));
  const rate = useMutation({
    async mutationFn(score: 0 | 1) {
      const path = given && { feedback_id: given.id };
      if (path && given.score === score) {
        await traceApi.DELETE("/api/v1/feedback/{feedback_id}", { params: { path } });
      } else if (path) {
        await traceApi.PATCH("/api/v1/feedback/{feedback_id}", { params: { path }, body: { score } });
      } else {
        const none = { value: null, comment: null, correction: null };
        const body = { ...none, key: KEY, run_id: runId, score, feedback_source: { type: "app" as const } };
        await data(traceApi.POST("/api/v1/feedback", { body }));
      }
    },
    onError: notifyFailure("Could not save the feedback"),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ["trace", "feedback"] }),
        client.invalidateQueries({ queryKey: ["feedback", runId] }),
      ]),
  });
  return (
    <>
      {([1, 0] as const).map((score) => {
        const label = score === 1 ? "Good reply" : "Bad reply";
        const Icon = score === 1 ? IconThumbUp : IconThumbDown;
        const isGiven = given?.score === score;
        return (
          <Tooltip
            key={score}
            label={isGiven ? `${label}: delete this feedback` : `${label}: give feedback on the run`}
          >
            <ActionIcon
              variant={isGiven ? "filled" : "subtle"}
              color={isGiven ? undefined : "neutral"}
              size="sm"
              aria-label={label}
              aria-pressed={isGiven}
              disabled={rate.isPending}
              onClick={() => rate.mutate(score)}
            >
              <Icon size={14} />
            </ActionIcon>
          </Tooltip>
        );
      })}
      {given && (
        <Suspense>
          <RunComment key={given.comment ?? ""} feedback={given} />
        </Suspense>
      )}
    </>
  );
}
