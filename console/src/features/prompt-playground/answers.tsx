import { Button, Group, NativeSelect, Text, Title } from "@mantine/core";
import { IconCopyPlus, IconPlus } from "@tabler/icons-react";
import { type Dispatch, useState } from "react";

import { Content } from "../../ui/messages/content.tsx";
import { AnswerColumn } from "./answer-column.tsx";
import { comparableText } from "./answer.ts";
import { type Draft, type DraftAction, letter, MAX_COLUMNS } from "./draft.ts";
import classes from "./prompt-playground.module.css";
import type { Answers as AnswerMap } from "./use-answers.ts";

const ORIGINAL = "original";

interface AnswersProps {
  draft: Draft;
  answers: AnswerMap;
  dispatch: Dispatch<DraftAction>;
  /** Why the user may not call models; null if they may. */
  mayCall: string | null;
  onRun: (keys: readonly string[]) => void;
  onStop: (key: string) => void;
}

/** Columns side by side, and the differences of their answers from one of them or from the original answer. */
export function Answers({ draft, answers, dispatch, mayCall, onRun, onStop }: AnswersProps) {
  const { columns, run } = draft;
  const [base, setBase] = useState("");
  const isFull = columns.length >= MAX_COLUMNS;
  const baseText = findBase(base, draft, answers);
  const choices = [
    { value: "", label: "No differences" },
    ...(run ? [{ value: ORIGINAL, label: "From the original answer" }] : []),
    ...(columns.length > 1 ? columns.map(({ key }, index) => ({ value: key, label: `From ${letter(index)}` })) : []),
  ];
  return (
    <section aria-label="Answers">
      <Group justify="space-between" mb={6} mih={30} gap="xs">
        <Title order={2} size="h6">
          Answers
        </Title>
        <Group gap="xs">
          {choices.length > 1 && (
            <NativeSelect
              size="xs"
              aria-label="Differences"
              data={choices}
              value={choices.some(({ value }) => value === base) ? base : ""}
              onChange={({ currentTarget }) => setBase(currentTarget.value)}
            />
          )}
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconPlus size={14} aria-hidden />}
            disabled={isFull}
            title={isFull ? `At most ${MAX_COLUMNS} columns` : undefined}
            onClick={() => dispatch({ type: "add-column", withPrompt: false })}
          >
            Add model
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconCopyPlus size={14} aria-hidden />}
            disabled={isFull}
            title={isFull ? `At most ${MAX_COLUMNS} columns` : undefined}
            onClick={() => dispatch({ type: "add-column", withPrompt: true })}
          >
            Add prompt
          </Button>
        </Group>
      </Group>
      <div className={classes["columns"]} tabIndex={0} role="group" aria-label="Columns">
        {run !== null && run.answer !== "" && (
          <section className={classes["column"]} aria-label="Original answer">
            <Group className={classes["columnHead"]} mih={34}>
              <Text size="sm" fw={500}>
                Original answer
              </Text>
            </Group>
            <div className={classes["answer"]} tabIndex={0} role="group" aria-label="Text of the original answer">
              <Content content={run.answer} />
            </div>
          </section>
        )}
        {columns.map((column, index) => (
          <AnswerColumn
            key={column.key}
            column={column}
            index={index}
            draft={draft}
            answer={answers[column.key]}
            base={base === column.key ? null : baseText}
            baseName={base === ORIGINAL ? "the original answer" : letter(columns.findIndex(({ key }) => key === base))}
            dispatch={dispatch}
            mayCall={mayCall}
            onRun={() => onRun([column.key])}
            onStop={() => onStop(column.key)}
          />
        ))}
      </div>
    </section>
  );
}

function findBase(base: string, { run }: Draft, answers: AnswerMap): string | null {
  if (base === ORIGINAL) return run?.answer ?? null;
  const answer = answers[base];
  return answer === undefined || answer.status === "running" ? null : comparableText(answer);
}
