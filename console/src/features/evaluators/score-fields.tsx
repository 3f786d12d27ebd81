import { ActionIcon, Button, Group, NativeSelect, NumberInput, Paper, Stack, Textarea, TextInput } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";

import { newScore, type ScoreDraft } from "./draft.ts";

interface ScoreFieldsProps {
  scores: ScoreDraft[];
  /** Whether there may be none: a prompt of the registry has its own schema. */
  mayBeEmpty: boolean;
  onChange: (scores: ScoreDraft[]) => void;
}

const TYPES = [
  { value: "boolean", label: "True or false" },
  { value: "number", label: "Number" },
  { value: "category", label: "Category" },
];

/** What a judge scores: one feedback key each. */
export function ScoreFields({ scores, mayBeEmpty, onChange }: ScoreFieldsProps) {
  const change = (id: string, by: Partial<ScoreDraft>) =>
    onChange(scores.map((score) => (score.id === id ? { ...score, ...by } : score)));
  return (
    <Stack gap="xs">
      {scores.map((score, i) => (
        <Paper key={score.id} withBorder p="xs" role="group" aria-label={`Score ${i + 1}`}>
          <Stack gap={6}>
            <Group gap={6} align="flex-end" wrap="nowrap">
              <TextInput
                size="xs"
                label="Feedback key"
                style={{ flex: 1 }}
                value={score.key}
                onChange={({ currentTarget: { value } }) => change(score.id, { key: value })}
              />
              <NativeSelect
                size="xs"
                label="Type"
                data={TYPES}
                value={score.type}
                onChange={({ currentTarget: { value } }) => change(score.id, { type: value as ScoreDraft["type"] })}
              />
              <ActionIcon
                variant="subtle"
                color="neutral"
                size="lg"
                aria-label={`Remove score ${i + 1}`}
                disabled={scores.length === 1 && !mayBeEmpty}
                onClick={() => onChange(scores.filter(({ id }) => id !== score.id))}
              >
                <IconTrash size={16} aria-hidden />
              </ActionIcon>
            </Group>
            <Textarea
              size="xs"
              label="Description for the judge"
              autosize
              minRows={1}
              maxRows={6}
              value={score.description}
              onChange={({ currentTarget: { value } }) => change(score.id, { description: value })}
            />
            {score.type === "number" && (
              <Group gap={6} grow>
                <NumberInput
                  size="xs"
                  label="Minimum"
                  value={score.min}
                  onChange={(min) => change(score.id, { min })}
                />
                <NumberInput
                  size="xs"
                  label="Maximum"
                  value={score.max}
                  onChange={(max) => change(score.id, { max })}
                />
              </Group>
            )}
            {score.type === "category" && (
              <Textarea
                size="xs"
                label="Choices"
                description="One per line, with a score if it has one: good = 1"
                autosize
                minRows={2}
                maxRows={10}
                value={score.choices}
                onChange={({ currentTarget: { value } }) => change(score.id, { choices: value })}
              />
            )}
          </Stack>
        </Paper>
      ))}
      <Group>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => onChange([...scores, newScore()])}
        >
          Add score
        </Button>
      </Group>
    </Stack>
  );
}
