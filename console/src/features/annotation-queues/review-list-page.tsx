import { Button, Group, Kbd, Stack, Text, Textarea } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";

import { Empty } from "../../ui/empty.tsx";
import { ButtonLink } from "../../ui/links.tsx";
import { LoadedList, LoadState } from "../../ui/load-state.tsx";
import { NextPage, useNextPage } from "../../ui/next-page.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { Page } from "../../ui/page.tsx";
import { runsQuery } from "../runs/queries.ts";
import { RUN_SEARCH, type RunSearch } from "../runs/run-search.ts";
import { runQuery } from "../traces/queries.ts";
import { ReviewRun } from "./review-run.tsx";
import classes from "./review.module.css";
import { THUMBS, USER_SCORE } from "./rubric.ts";
import { saveRating } from "./save-review.ts";

/** The runs of a filtered list, one after another, each rated by one key. */
export function ReviewListPage() {
  const { projectId } = useParams({ from: "/_shell/projects/$projectId/review" });
  const search: RunSearch = { ...RUN_SEARCH, ...useSearch({ from: "/_shell/projects/$projectId/review" }) };
  // the list stays as it is while its runs are reviewed
  const found = useInfiniteQuery({ ...runsQuery(projectId, search), staleTime: Number.POSITIVE_INFINITY });
  const [place, setPlace] = useState(0);
  const runs = found.data?.pages.flatMap((page) => page.runs) ?? [];
  const run = runs[place];
  useNextPage(found, place > runs.length - 10);
  const move = (step: number) => setPlace((before) => Math.max(0, Math.min(runs.length, before + step)));
  const more = found.hasNextPage ? "+" : "";
  return (
    <Page
      title="Review"
      actions={
        <>
          <Text size="sm" className="numbers" role="status">
            {runs.length === 0 ? "" : `${Math.min(place + 1, runs.length)} of ${runs.length}${more}`}
          </Text>
          <ButtonLink to="/projects/$projectId" params={{ projectId }} search={search} variant="default" size="xs">
            List
          </ButtonLink>
        </>
      }
    >
      <LoadedList query={found} rows={10} list={runs} empty={<Empty title="No runs match these filters" />}>
        {run ? (
          <ReviewOne key={run.id} runId={run.id} nextId={runs[place + 1]?.id} onMove={move} />
        ) : found.hasNextPage ? (
          <NextPage pages={found} />
        ) : (
          <Empty title="All runs of the list are reviewed">
            <Button size="xs" variant="default" onClick={() => setPlace(0)}>
              Start again
            </Button>
          </Empty>
        )}
      </LoadedList>
    </Page>
  );
}

interface ReviewOneProps {
  runId: string;
  nextId: string | undefined;
  onMove: (step: number) => void;
}

function ReviewOne({ runId, nextId, onMove }: ReviewOneProps) {
  const client = useQueryClient();
  const run = useQuery(runQuery(runId));
  const [comment, setComment] = useState("");
  const comments = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (nextId !== undefined) void client.prefetchQuery({ ...runQuery(nextId), staleTime: 60_000 });
  }, [nextId]);
  const save = useMutation({
    async mutationFn(answers: Parameters<typeof saveRating>[1]["answers"]) {
      await saveRating({ id: runId, ...run.data }, { answers, comment });
      await client.invalidateQueries({ queryKey: ["feedback", runId] });
    },
    onError: notifyFailure("Could not save the feedback"),
  });
  // the next run appears at once; a failure is shown when it is known
  const rate = (digit: string) => {
    const choice = THUMBS.find((each) => each.digit === digit);
    if (!choice || !run.data) return;
    save.mutate({ [USER_SCORE]: choice.answer });
    onMove(1);
  };
  const sendComment = () => {
    if (comment.trim() !== "" && run.data) save.mutate({});
    onMove(1);
  };
  useHotkeys([
    ["J", () => onMove(1)],
    ["K", () => onMove(-1)],
    ["1", () => rate("1")],
    ["0", () => rate("0")],
    ["C", () => comments.current?.focus()],
  ]);
  if (!run.data) return <LoadState query={run} rows={10} />;
  return (
    <div className={classes["columns"]}>
      <ReviewRun run={run.data} />
      <Stack gap="sm" className={classes["panel"] ?? ""}>
        <Group gap="xs">
          {THUMBS.map(({ digit, label }) => (
            <Button
              key={digit}
              size="xs"
              variant="default"
              rightSection={<Kbd size="xs">{digit}</Kbd>}
              onClick={() => rate(digit)}
            >
              {label}
            </Button>
          ))}
          <Button size="xs" variant="default" rightSection={<Kbd size="xs">K</Kbd>} onClick={() => onMove(-1)}>
            Previous
          </Button>
          <Button size="xs" variant="default" rightSection={<Kbd size="xs">J</Kbd>} onClick={() => onMove(1)}>
            Next
          </Button>
        </Group>
        <Textarea
          ref={comments}
          label="Comment"
          description="Saved with the rating, or alone by Enter."
          size="xs"
          autosize
          minRows={1}
          maxRows={8}
          value={comment}
          onChange={({ currentTarget: { value } }) => setComment(value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") event.currentTarget.blur();
            if (event.key !== "Enter" || event.shiftKey) return;
            event.preventDefault();
            sendComment();
          }}
        />
      </Stack>
    </div>
  );
}
