import { Group, Select, Stack, Text, TextInput } from "@mantine/core";

import { type Details, type KeyDetails, NO_DETAILS } from "./rubric-details.ts";

interface RubricDetailsProps {
  keys: readonly string[];
  details: Details;
  onChange: (details: Details) => void;
}

/** Conditions and patterns of a rubric's keys. */
export function RubricDetails({ keys, details, onChange }: RubricDetailsProps) {
  const change = (key: string, changes: Partial<KeyDetails>) =>
    onChange({ ...details, [key]: { ...NO_DETAILS, ...details[key], ...changes } });
  return (
    <Stack gap={6} role="group" aria-label="Conditions">
      <Text size="xs" c="dimmed">
        A key can be shown only after another one has certain scores (1, 2; empty: any answer), and a text can have to
        match a regular expression.
      </Text>
      {keys.map((key) => {
        const { shownKey, shownScores, pattern } = details[key] ?? NO_DETAILS;
        return (
          <Group key={key} gap={6} wrap="nowrap" align="flex-end">
            <Text size="xs" w={110} truncate pb={6}>
              {key}
            </Text>
            <Select
              aria-label={`${key} is shown after`}
              placeholder="Always shown"
              size="xs"
              clearable
              flex={1}
              data={keys.filter((other) => other !== key)}
              value={shownKey}
              onChange={(value) => change(key, { shownKey: value })}
            />
            <TextInput
              aria-label={`Scores that show ${key}`}
              placeholder="Scores"
              size="xs"
              w={80}
              disabled={shownKey === null}
              value={shownScores}
              onChange={({ currentTarget: { value } }) => change(key, { shownScores: value })}
            />
            <TextInput
              aria-label={`Pattern of ${key}`}
              placeholder="Pattern"
              size="xs"
              flex={1}
              value={pattern}
              onChange={({ currentTarget: { value } }) => change(key, { pattern: value })}
            />
          </Group>
        );
      })}
    </Stack>
  );
}
