import { Paper, Stack, Text } from "@mantine/core";

import { LazyJson } from "../../ui/lazy-json.tsx";
import { AnswerForm } from "./answer-form.tsx";
import { readReview } from "./review.ts";
import { ReviewForm } from "./review-form.tsx";

export interface Interrupt {
  id?: string | undefined;
  value?: unknown;
  /** `breakpoint` where the run was configured to stop before a node. */
  when?: string | undefined;
}

interface InterruptCardProps {
  interrupt: Interrupt;
  /** Node that raised the interrupt. */
  node?: string | undefined;
  isBusy: boolean;
  onAnswer: (value: unknown) => void;
}

/** A run's interrupt, with the ways to answer it. */
export function InterruptCard({ interrupt: { value }, node, isBusy, onAnswer }: InterruptCardProps) {
  const review = readReview(value);
  return (
    <Paper
      withBorder
      p="sm"
      component="section"
      aria-label="Needs review"
      style={{ borderColor: "var(--mantine-color-orange-6)", borderLeftWidth: 3 }}
    >
      <Stack gap="xs">
        <Text size="xs" fw={600} c="dimmed">
          Needs review{node !== undefined && ` · ${node}`}
        </Text>
        {review ? (
          <ReviewForm review={review} isBusy={isBusy} onAnswer={onAnswer} />
        ) : (
          <>
            <Question value={value} />
            <AnswerForm payload={value} isBusy={isBusy} onAnswer={onAnswer} />
          </>
        )}
      </Stack>
    </Paper>
  );
}

/** Shows text as text; an object with a single question by that question. */
export function Question({ value }: { value: unknown }) {
  if (typeof value === "string") {
    return <Text style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>{value}</Text>;
  }
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const [only] = entries;
  if (entries.length === 1 && typeof only![1] === "string") {
    return (
      <Text style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
        <Text span size="sm" c="dimmed">
          {only![0]}:
        </Text>{" "}
        {only![1]}
      </Text>
    );
  }
  return <LazyJson value={value} label="payload" maxHeight="16rem" />;
}
