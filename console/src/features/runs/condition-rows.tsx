import { ActionIcon, Autocomplete, Button, Group, Select, Stack, Text } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";

import {
  type Condition,
  CONDITION_FIELDS,
  emptyCondition,
  type Operator,
  OPERATOR_LABELS,
  readConditions,
  suggestions,
  writeConditions,
} from "./conditions.ts";
import type { Fact } from "./filter-language.ts";

interface ConditionRowsProps {
  /** Expression beside the rows; both show the same. */
  value: string;
  onChange: (value: string) => void;
  /** Absent where each change is applied. */
  onSubmit?: (() => void) | undefined;
  facts: readonly Fact[];
}

const FIELD_OPTIONS = Object.entries(CONDITION_FIELDS).map(([value, { label }]) => ({ value, label }));

/** Builder of a filter: a row for each condition, all of which must hold. */
export function ConditionRows({ value, onChange, onSubmit, facts }: ConditionRowsProps) {
  const [rows, setRows] = useState(() => readConditions(value));
  const written = useRef(value);
  useEffect(() => {
    // the text was changed elsewhere; unfinished rows are not in it
    if (value !== written.current) setRows(readConditions(value));
    written.current = value;
  }, [value]);
  if (rows === null) {
    return (
      <Text size="xs" c="dimmed" py={4}>
        This expression says more than rows of conditions can: edit it as text.
      </Text>
    );
  }
  const change = (next: Condition[]) => {
    setRows(next);
    written.current = writeConditions(next);
    onChange(written.current);
  };
  const shown = rows.length > 0 ? rows : [emptyCondition("status")];
  const changeRow = (index: number, changes: Partial<Condition>) =>
    change(shown.map((row, at) => (at === index ? { ...row, ...changes } : row)));
  return (
    <Stack
      gap={6}
      py={6}
      role="group"
      aria-label="Conditions"
      // no form of its own: the field may be part of one
      onKeyDown={(event) => {
        if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement) || event.defaultPrevented) return;
        event.preventDefault();
        onSubmit?.();
      }}
    >
      {shown.map((row, index) => (
        <Row
          // rows have no identity but their place
          key={`${index} ${row.field}`}
          row={row}
          number={index + 1}
          facts={facts}
          onChange={(changes) => changeRow(index, changes)}
          onRemove={() => change(shown.filter((_, at) => at !== index))}
        />
      ))}
      <Group gap="xs">
        <Button
          size="compact-xs"
          variant="default"
          leftSection={<IconPlus size={12} aria-hidden />}
          onClick={() => change([...shown, emptyCondition("name")])}
        >
          Add condition
        </Button>
        {onSubmit && (
          <Button size="compact-xs" onClick={onSubmit}>
            Apply conditions
          </Button>
        )}
      </Group>
    </Stack>
  );
}

interface RowProps {
  row: Condition;
  number: number;
  facts: readonly Fact[];
  onChange: (changes: Partial<Condition>) => void;
  onRemove: () => void;
}

function Row({ row, number, facts, onChange, onRemove }: RowProps) {
  const { operators, pair } = CONDITION_FIELDS[row.field]!;
  const { keys, values } = suggestions(facts, row);
  return (
    <Group gap={6} role="group" aria-label={`Condition ${number}`}>
      <Select
        size="xs"
        w={150}
        aria-label="Field"
        data={FIELD_OPTIONS}
        allowDeselect={false}
        value={row.field}
        onChange={(field) => field !== null && onChange(emptyCondition(field))}
      />
      {pair && (
        <Autocomplete
          size="xs"
          w={140}
          aria-label="Key"
          placeholder="Key"
          data={keys}
          value={row.key}
          onChange={(key) => onChange({ key })}
        />
      )}
      <Select
        size="xs"
        w={150}
        aria-label="Operator"
        data={operators.map((operator) => ({ value: operator, label: OPERATOR_LABELS[operator] }))}
        allowDeselect={false}
        value={row.operator}
        onChange={(operator) => operator !== null && onChange({ operator: operator as Operator })}
      />
      <Autocomplete
        size="xs"
        w={220}
        aria-label="Value"
        placeholder="Value"
        data={values}
        limit={50}
        value={row.value}
        onChange={(value) => onChange({ value })}
      />
      <ActionIcon variant="subtle" color="neutral" aria-label={`Remove condition ${number}`} onClick={onRemove}>
        <IconX size={14} aria-hidden />
      </ActionIcon>
    </Group>
  );
}
