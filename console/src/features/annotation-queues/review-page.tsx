import { Button, Group, Progress, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useEffect, useState } from "react";

import { Empty } from "../../ui/empty.tsx";
import { count } from "../../ui/format.ts";
import { ButtonLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { Content } from "../../ui/messages/content.tsx";
import { Page } from "../../ui/page.tsx";
import type { AnyRun } from "../runs/run-record.ts";
import {
  feedbackConfigsQuery,
  nextItemQuery,
  type Queue,
  type QueueItem,
  queueProgressQuery,
  queueQuery,
  setItemStatus,
} from "./queries.ts";
import { ReviewForm } from "./review-form.tsx";
import { ReviewRun } from "./review-run.tsx";
import classes from "./review.module.css";
import { rubricFields } from "./rubric.ts";
import { ReviewPair } from "./review-pair.tsx";
import { type Review, submitReview } from "./save-review.ts";

/** The caller's items of a queue, one after another. */
export function ReviewPage() {
  const { queueId } = useParams({ from: "/_shell/annotation-queues/$queueId/review" });
  const queue = useQuery(queueQuery(queueId));
  const [turn, setTurn] = useState(0);
  const next = useQuery(nextItemQuery(queueId, turn));
  return (
    <Page
      title={queue.data ? `Review ${queue.data.name}` : "Review"}
      actions={
        <>
          <QueueShare queueId={queueId} />
          <ButtonLink to="/annotation-queues/$queueId" params={{ queueId }} variant="default" size="xs">
            Queue
          </ButtonLink>
        </>
      }
    >
      {!queue.data || next.data === undefined ? (
        <LoadState query={[queue, next]} rows={10} />
      ) : next.data === null ? (
        <Empty title="Nothing left to review">
          <Text size="sm" maw={480}>
            All runs of the queue are completed, or reserved for other reviewers.
          </Text>
          <Button size="xs" variant="default" onClick={() => setTurn(turn + 1)}>
            Check again
          </Button>
        </Empty>
      ) : (
        <ReviewItem key={turn} queue={queue.data} item={next.data} onDone={() => setTurn(turn + 1)} />
      )}
    </Page>
  );
}

/** Progress of the caller: the number of the queue's runs that need no more review by them. */
function QueueShare({ queueId }: { queueId: string }) {
  const { data } = useQuery(queueProgressQuery(queueId));
  const done = data ? data.total - data.needs_my_review : 0;
  const share = data && data.total > 0 ? (100 * done) / data.total : 0;
  return (
    <Group gap="xs" w={220} wrap="nowrap">
      <Progress value={share} aria-label="Progress" style={{ flex: 1 }} />
      <Text size="sm" className="numbers" role="status" w={110} ta="end">
        {data ? `${count(done)} of ${count(data.total)}` : "…"}
      </Text>
    </Group>
  );
}

interface ReviewItemProps {
  queue: Omit<Queue, "total_runs">;
  item: QueueItem;
  onDone: () => void;
}

function ReviewItem({ queue, item, onDone }: ReviewItemProps) {
  const client = useQueryClient();
  const configs = useQuery(feedbackConfigsQuery);
  const itemId = item.queue_run_id;
  const isPair = item.other_run_id !== null;
  // half of the pairs are shown in the other order, so that a habit favours neither side
  const isSwapped = isPair && Number.parseInt(itemId.at(-1)!, 16) % 2 === 1;
  useEffect(() => {
    if (!queue.enable_reservations) return;
    // renewed at half time, so that a long look keeps the item
    const timer = setInterval(
      () => void setItemStatus(itemId, { status: "viewed" }).catch(() => {}),
      queue.reservation_minutes * 30_000,
    );
    return () => clearInterval(timer);
  }, [itemId, queue.enable_reservations, queue.reservation_minutes]);
  const finish = async () => {
    onDone();
    await client.invalidateQueries({ queryKey: ["annotation-queue", queue.id] });
    await client.invalidateQueries({ queryKey: ["feedback", item.id] });
  };
  const submit = async (review: Review) => {
    await submitReview(queue.id, itemId, review, isSwapped);
    await finish();
  };
  const skip = async () => {
    await setItemStatus(itemId, { status: null, override_added_at: new Date().toISOString() });
    await finish();
  };
  if (!configs.data) return <LoadState query={configs} rows={10} />;
  return (
    <div className={classes["columns"]}>
      {isPair ? (
        <ReviewPair run={item as unknown as AnyRun} otherId={item.other_run_id!} isSwapped={isSwapped} />
      ) : (
        <ReviewRun run={item as unknown as AnyRun} />
      )}
      <Stack gap="sm" className={classes["panel"] ?? ""}>
        {queue.rubric_instructions && (
          <section aria-label="Instructions">
            <Content content={queue.rubric_instructions} />
          </section>
        )}
        <ReviewForm
          fields={rubricFields(queue.rubric_items, configs.data, isPair)}
          isCorrectable={!isPair}
          outputs={item.outputs}
          hasDataset={queue.default_dataset !== null}
          onSubmit={submit}
          onSkip={skip}
        />
      </Stack>
    </div>
  );
}
