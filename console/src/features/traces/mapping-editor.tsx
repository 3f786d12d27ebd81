import { ActionIcon, Button, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";

import { type MappingRow, PARTS } from "./run-mapping.ts";

interface MappingEditorProps {
  rows: readonly MappingRow[];
  onChange: (rows: MappingRow[]) => void;
}

/** Lines of a mapping: a field of the example, and the path in the run that it is taken from. */
export function MappingEditor({ rows, onChange }: MappingEditorProps) {
  const change = (index: number, changes: Partial<MappingRow>) =>
    onChange(rows.map((row, i) => (i === index ? { ...row, ...changes } : row)));
  return (
    <Stack gap={6} role="group" aria-label="Mapping">
      <Text size="xs" c="dimmed">
        Fields of the example, and their paths in the run: inputs.messages[-1].content, outputs, metadata.user. Without
        a field name, the whole part.
      </Text>
      {rows.map((row, index) => (
        // the lines have no names
        // oxlint-disable-next-line react/no-array-index-key
        <Group key={index} gap={6} wrap="nowrap">
          <Select
            aria-label={`Part ${index + 1}`}
            size="xs"
            w={105}
            allowDeselect={false}
            data={[...PARTS]}
            value={row.part}
            onChange={(part) => change(index, { part: part as MappingRow["part"] })}
          />
          <TextInput
            aria-label={`Field ${index + 1}`}
            size="xs"
            flex={1}
            placeholder="whole part"
            value={row.field}
            onChange={({ currentTarget: { value } }) => change(index, { field: value })}
          />
          <TextInput
            aria-label={`Path ${index + 1}`}
            size="xs"
            flex={2}
            placeholder="inputs.question"
            value={row.path}
            onChange={({ currentTarget: { value } }) => change(index, { path: value })}
          />
          <ActionIcon
            variant="subtle"
            color="neutral"
            size="sm"
            aria-label={`Remove line ${index + 1}`}
            onClick={() => onChange(rows.filter((_, i) => i !== index))}
          >
            <IconTrash size={14} />
          </ActionIcon>
        </Group>
      ))}
      <Button
        size="compact-xs"
        variant="subtle"
        style={{ alignSelf: "flex-start" }}
        leftSection={<IconPlus size={12} aria-hidden />}
        onClick={() => onChange([...rows, { part: "inputs", field: "", path: "" }])}
      >
        Add field
      </Button>
    </Stack>
  );
}
