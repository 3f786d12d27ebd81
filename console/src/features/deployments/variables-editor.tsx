import { ActionIcon, Button, Group, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";

import type { Variable } from "./deploy.ts";
import { MASK } from "./queries.ts";
import { readEnv } from "./read-env.ts";

interface VariablesEditorProps {
  variables: Variable[];
  onChange: (variables: Variable[]) => void;
}

/**
 * Editor for environment variables: values are secrets, entered once and never shown again. Accepts a pasted .env file.
 */
export function VariablesEditor({ variables, onChange }: VariablesEditorProps) {
  const change = (index: number, changes: Partial<Variable>) =>
    onChange(variables.map((old, at) => (at === index ? { ...old, ...changes } : old)));
  const paste = (index: number, text: string): boolean => {
    const pasted = readEnv(text);
    if (pasted.length === 0) return false;
    const names = new Set(pasted.map(({ name }) => name));
    onChange([...variables.filter(({ name }, at) => at !== index && name !== "" && !names.has(name)), ...pasted]);
    return true;
  };
  return (
    <Stack gap={6}>
      {variables.length === 0 && (
        <Text size="sm" c="dimmed">
          No variables.
        </Text>
      )}
      {variables.map(({ name, value }, index) => (
        <Group key={index} gap={6} wrap="nowrap" align="start">
          <TextInput
            aria-label={`Name of variable ${index + 1}`}
            placeholder="NAME"
            size="xs"
            value={name}
            onChange={(event) => change(index, { name: event.currentTarget.value })}
            onPaste={(event) => {
              if (paste(index, event.clipboardData.getData("text"))) event.preventDefault();
            }}
            style={{ flex: 2 }}
            styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
          />
          <PasswordInput
            aria-label={`Value of ${name || `variable ${index + 1}`}`}
            placeholder={value === MASK ? "unchanged" : "value"}
            size="xs"
            value={value === MASK ? "" : value}
            onChange={(event) => change(index, { value: event.currentTarget.value })}
            autoComplete="off"
            style={{ flex: 3 }}
          />
          <ActionIcon
            variant="subtle"
            color="neutral"
            mt={2}
            onClick={() => onChange(variables.filter((_, at) => at !== index))}
            aria-label={`Remove ${name || `variable ${index + 1}`}`}
          >
            <IconTrash size={14} />
          </ActionIcon>
        </Group>
      ))}
      <Group gap="xs">
        <Button
          size="compact-xs"
          variant="default"
          leftSection={<IconPlus size={12} aria-hidden />}
          onClick={() => onChange([...variables, { name: "", value: "" }])}
        >
          Add variable
        </Button>
        <Text size="xs" c="dimmed">
          Paste the contents of a .env file into a name field to add all of its variables.
        </Text>
      </Group>
    </Stack>
  );
}
