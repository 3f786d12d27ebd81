import { Paper, Stack, Text } from "@mantine/core";
import { type KeyboardEvent, useEffect, useRef } from "react";

import { Loading } from "../../ui/loading.tsx";
import { LazyJson } from "../../ui/lazy-json.tsx";
import { useLoaded } from "../../ui/use-loaded.ts";
import { OFFERED } from "./offered-answers.ts";
import { AnswerForm } from "./answer-form.tsx";
import { answerSchema, SCHEMAS } from "./answer-schema.ts";
import type { ReviewFormProps } from "./review-form.tsx";
import type { SchemaAnswerFormProps } from "./schema-answer-form.tsx";
import { readReview } from "./review.ts";

const loadSchemaForm = async () => (await import("./schema-answer-form.tsx")).SchemaAnswerForm;
const loadReviewForm = async () => (await import("./review-form.tsx")).ReviewForm;

export interface Interrupt {
  id?: string | undefined;
  value?: unknown;
  /** JSON schema of the answer, where the graph gave one to `interrupt()`. */
  response_schema?: unknown;
  /** `breakpoint` where the run was configured to stop before a node. */
  when?: string | undefined;
}

interface InterruptCardProps {
  interrupt: Interrupt;
  /** Node that raised the interrupt. */
  node?: string | undefined;
  isBusy: boolean;
  onAnswer: (value: unknown) => void;
  /** Whether the page is about this question, which is then a dialog. */
  isForeground?: boolean;
  /** Whether the question takes the focus when it appears. */
  takesFocus?: boolean;
}

/** A run's interrupt, with the ways to answer it. The keys 1 to 9 choose an offered answer. */
export function InterruptCard({
  interrupt: { value, response_schema },
  node,
  isBusy,
  onAnswer,
  ...place
}: InterruptCardProps) {
  const { isForeground = false, takesFocus = false } = place;
  const card = useRef<HTMLElement>(null);
  useEffect(() => {
    if (takesFocus) card.current?.focus();
  }, [takesFocus]);
  const review = readReview(value);
  const schema = review ? null : (answerSchema({ response_schema }) ?? answerSchema(value));
  return (
    <Paper
      withBorder
      p="sm"
      component="section"
      ref={card}
      aria-label="Needs review"
      {...(isForeground && { role: "dialog", tabIndex: -1 })}
      onKeyDown={chooseByKey}
      style={{ borderColor: "var(--heddle-warning)", borderInlineStartWidth: 3 }}
    >
      <Stack gap="xs">
        <Text size="xs" fw={600} c="dimmed">
          Needs review{node !== undefined && ` · ${node}`}
        </Text>
        {review ? (
          <LazyReviewForm review={review} isBusy={isBusy} onAnswer={onAnswer} />
        ) : schema ? (
          <>
            <Question value={value} />
            <LazySchemaForm schema={schema} isBusy={isBusy} onAnswer={onAnswer} />
            <details>
              <summary style={{ cursor: "pointer" }}>
                <Text span size="xs" c="dimmed">
                  Another answer, as text or JSON
                </Text>
              </summary>
              <AnswerForm payload={value} isBusy={isBusy} onAnswer={onAnswer} />
            </details>
          </>
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

/** Presses the offered answer whose number is typed outside of a text field. */
function chooseByKey({ key, target, currentTarget, ctrlKey, metaKey, altKey }: KeyboardEvent<HTMLElement>): void {
  if (!/^[1-9]$/.test(key) || ctrlKey || metaKey || altKey) return;
  if ((target as HTMLElement).closest("input, textarea, select, [contenteditable]")) return;
  currentTarget.querySelectorAll<HTMLButtonElement>(`[${OFFERED}]`)[Number(key) - 1]?.click();
}

/** Loads the form with the first review: the playground's first page needs none of its fields. */
function LazyReviewForm(props: ReviewFormProps) {
  const ReviewForm = useLoaded(loadReviewForm);
  return ReviewForm ? <ReviewForm {...props} /> : <Loading rows={3} />;
}

function LazySchemaForm(props: SchemaAnswerFormProps) {
  const SchemaAnswerForm = useLoaded(loadSchemaForm);
  return SchemaAnswerForm ? <SchemaAnswerForm {...props} /> : <Loading rows={3} />;
}

/** Members that a payload's question is in, and those that are the form below it. */
const QUESTIONS = ["question", "message", "prompt", "title", "description", "instruction"];
const ANSWERS = new Set(["answers", "choices", "options", ...SCHEMAS]);
const LONG = 2000;
const toText = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

/** The question first and large, then each other text under its name, then the rest as JSON. */
function Payload({ value }: { value: unknown }) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return <LazyJson value={value} label="payload" maxHeight="60vh" />;
  }
  const fields = value as Record<string, unknown>;
  const question = QUESTIONS.find((name) => typeof fields[name] === "string");
  const others = Object.entries(fields).filter(([name]) => name !== question && !ANSWERS.has(name));
  const isText = ([, content]: [string, unknown]) => typeof content !== "object" && toText(content).length <= LONG;
  const rest = others.filter((entry) => !isText(entry));
  return (
    <Stack gap="xs">
      {question !== undefined && (
        <Text fw={600} size="lg" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
          {String(fields[question])}
        </Text>
      )}
      {others.filter(isText).map(([name, content]) => (
        <div key={name}>
          <Text size="xs" c="dimmed">
            {name}
          </Text>
          <Text style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>{toText(content)}</Text>
        </div>
      ))}
      {rest.length > 0 && <LazyJson value={Object.fromEntries(rest)} label="payload" maxHeight="60vh" />}
    </Stack>
  );
}

/** Shows text as text; an object with a single question by that question. */
export function Question({ value }: { value: unknown }) {
  if (typeof value === "string") {
    return (
      <Text fw={600} size="lg" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
        {value}
      </Text>
    );
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
  return <Payload value={value} />;
}
