import { Alert, Button, Group, Kbd, Stack, Text, Textarea, Title, UnstyledButton } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { type KeyboardEvent, useRef, useState } from "react";

import { readObject, writeJson } from "../../ui/json-text.ts";
import classes from "./review.module.css";
import {
  type Answer,
  type Answers,
  isRequired,
  missingFields,
  nextField,
  type RubricField,
  visibleFields,
} from "./rubric.ts";
import type { Review } from "./save-review.ts";

interface ReviewFormProps {
  fields: readonly RubricField[];
  outputs: unknown;
  /** Whether corrections become examples of a dataset. */
  hasDataset: boolean;
  /** Whether there is an output to correct: not of a pair. */
  isCorrectable?: boolean;
  onSubmit: (review: Review) => Promise<unknown>;
  onSkip: () => Promise<unknown>;
}

const DIGITS = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

/**
 * Form for one item, used by keys: digits answer the marked field and mark the next, arrows mark another one, Enter
 * submits, S skips, C comments and E edits the output. Mount it anew for each item.
 */
export function ReviewForm({ fields: all, outputs, hasDataset, isCorrectable = true, ...rest }: ReviewFormProps) {
  const { onSubmit, onSkip } = rest;
  const [given, setAnswers] = useState<Answers>({});
  const [activeKey, setActiveKey] = useState(all[0]?.key);
  const fields = visibleFields(all, given);
  // answers of fields that have been hidden since do not count
  const answers: Answers = Object.fromEntries(
    Object.entries(given).filter(([key]) => fields.some((f) => f.key === key)),
  );
  const active = Math.max(
    0,
    fields.findIndex((field) => field.key === activeKey),
  );
  const [comment, setComment] = useState("");
  const [correction, setCorrection] = useState<string | null>(null);
  const comments = useRef<HTMLTextAreaElement>(null);
  const submit = useMutation({
    mutationFn: async () => {
      const missing = missingFields(fields, answers);
      if (missing.length > 0) throw new Error(`Answer the required fields first: ${missing.join(", ")}.`);
      const corrected = correction === null ? undefined : readObject(correction, "The corrected output");
      await onSubmit({ answers, comment, correction: corrected });
    },
  });
  const skip = useMutation({ mutationFn: onSkip });
  const isBusy = submit.isPending || skip.isPending;
  const answer = (index: number, chosen: Answer) => {
    const { key } = fields[index]!;
    const next = { ...given, [key]: chosen };
    setAnswers(next);
    // a field that has just appeared is next
    const shown = visibleFields(all, next);
    setActiveKey(
      shown[
        nextField(
          shown,
          next,
          shown.findIndex((field) => field.key === key),
        )
      ]?.key,
    );
  };
  const send = () => {
    if (!isBusy) submit.mutate();
  };
  const pass = () => {
    if (!isBusy) skip.mutate();
  };
  const edit = () => {
    if (isCorrectable) setCorrection((before) => before ?? writeJson(outputs ?? {}));
  };
  const move = (step: number) => setActiveKey(fields[(active + step + fields.length) % fields.length]?.key);
  useHotkeys([
    ...DIGITS.map((digit): [string, () => void] => [
      digit,
      () => {
        const choice = fields[active]?.choices.find((each) => each.digit === digit);
        if (choice) answer(active, choice.answer);
      },
    ]),
    ["ArrowDown", () => move(1)],
    ["ArrowUp", () => move(-1)],
    ["C", () => comments.current?.focus()],
    ["E", edit],
    ["S", pass],
    // a focused button or link keeps its Enter
    [
      "Enter",
      ({ target }) => {
        if (!(target instanceof Element && target.closest("button, a, summary"))) send();
      },
      { preventDefault: false },
    ],
  ]);
  const onTextKey = (event: KeyboardEvent<HTMLTextAreaElement>, sendsOn: "plain" | "ctrl") => {
    if (event.key === "Escape") event.currentTarget.blur();
    if (event.key !== "Enter" || event.shiftKey) return;
    if (sendsOn === "ctrl" && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    send();
  };
  const error = submit.error ?? skip.error;
  return (
    <form
      aria-label="Review"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Stack gap="sm">
        {fields.map((field, index) => (
          <Field
            key={field.key}
            field={field}
            isActive={index === active}
            isRequired={isRequired(field, fields, answers)}
            answer={answers[field.key]}
            onAnswer={(given) => answer(index, given)}
            onText={(value) => {
              const others = Object.entries(given).filter(([key]) => key !== field.key);
              setAnswers(Object.fromEntries(value === "" ? others : [...others, [field.key, { score: null, value }]]));
            }}
          />
        ))}
        <Textarea
          ref={comments}
          label="Comment"
          size="xs"
          autosize
          minRows={1}
          maxRows={8}
          value={comment}
          onChange={({ currentTarget: { value } }) => setComment(value)}
          onKeyDown={(event) => onTextKey(event, "plain")}
        />
        {correction !== null && (
          <Textarea
            label="Corrected output"
            description={
              hasDataset
                ? "Saved with the review, and as an example of the queue's dataset. Ctrl+Enter submits."
                : "Saved with the review. Ctrl+Enter submits."
            }
            size="xs"
            autoFocus
            autosize
            minRows={4}
            maxRows={20}
            styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
            value={correction}
            onChange={({ currentTarget: { value } }) => setCorrection(value)}
            onKeyDown={(event) => onTextKey(event, "ctrl")}
          />
        )}
        {error && (
          <Alert color="danger" role="alert" title="Could not save the review" style={{ overflowWrap: "anywhere" }}>
            {error.message}
          </Alert>
        )}
        <Group gap="xs">
          <Button type="submit" size="xs" loading={submit.isPending} rightSection={<Kbd size="xs">Enter</Kbd>}>
            Submit
          </Button>
          <Button
            size="xs"
            variant="default"
            loading={skip.isPending}
            onClick={pass}
            rightSection={<Kbd size="xs">S</Kbd>}
          >
            Skip
          </Button>
          {isCorrectable && (
            <Button size="xs" variant="default" onClick={edit} rightSection={<Kbd size="xs">E</Kbd>}>
              Edit output
            </Button>
          )}
        </Group>
        <Text size="xs" c="dimmed">
          Digits answer the marked field, <Kbd size="xs">↑</Kbd> <Kbd size="xs">↓</Kbd> mark another one,{" "}
          <Kbd size="xs">C</Kbd> comments.
        </Text>
      </Stack>
    </form>
  );
}

interface FieldProps {
  field: RubricField;
  isActive: boolean;
  isRequired: boolean;
  answer: Answer | undefined;
  onAnswer: (answer: Answer) => void;
  onText: (value: string) => void;
}

function Field({ field, isActive, isRequired: required, answer, onAnswer, onText }: FieldProps) {
  return (
    <section aria-label={field.key} className={classes["field"]} data-active={isActive || undefined}>
      <Title order={3} size="h6">
        {field.key}
        {required && " *"}
      </Title>
      {field.description && (
        <Text size="xs" c="dimmed" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
          {field.description}
        </Text>
      )}
      {field.kind === "text" ? (
        <Textarea
          aria-label={field.key}
          {...(field.pattern !== undefined && { description: `Must match ${field.pattern}` })}
          size="xs"
          mt={4}
          autosize
          minRows={1}
          maxRows={8}
          value={answer?.value ?? ""}
          onChange={({ currentTarget: { value } }) => onText(value)}
        />
      ) : (
        <Group gap={6} mt={4}>
          {field.choices.map((choice) => (
            <UnstyledButton
              key={choice.label}
              type="button"
              className={classes["choice"]}
              aria-pressed={
                answer?.score === choice.answer.score &&
                answer.value === choice.answer.value &&
                answer.preferred === choice.answer.preferred
              }
              onClick={() => onAnswer(choice.answer)}
            >
              {choice.digit !== "" && <Kbd size="xs">{choice.digit}</Kbd>} {choice.label}
            </UnstyledButton>
          ))}
        </Group>
      )}
    </section>
  );
}
