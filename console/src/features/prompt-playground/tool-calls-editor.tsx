import { Button, CloseButton, Group, Stack, Textarea, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";

import { newId } from "../../ui/new-id.ts";
import { isBrokenJson } from "../../ui/schema-form/schema.ts";
import type { DraftToolCall } from "./prompt.ts";

interface ToolCallsEditorProps {
  calls: DraftToolCall[];
  onChange: (calls: DraftToolCall[]) => void;
}

/** Tool calls of an assistant's message. */
export function ToolCallsEditor({ calls, onChange }: ToolCallsEditorProps) {
  const change = (index: number, next: Partial<DraftToolCall>) =>
    onChange(calls.with(index, { ...calls[index]!, ...next }));
  return (
    <Stack gap={6} mt={6}>
      {calls.map((call, index) => (
        <div key={index} role="group" aria-label={`Tool call ${index + 1}`}>
          <Group gap={4} wrap="nowrap" align="flex-end">
            <TextInput
              size="xs"
              label="Tool"
              style={{ flex: 1 }}
              value={call.name}
              onChange={({ currentTarget }) => change(index, { name: currentTarget.value })}
            />
            <TextInput
              size="xs"
              label="ID"
              style={{ flex: 1 }}
              value={call.id}
              onChange={({ currentTarget }) => change(index, { id: currentTarget.value })}
            />
            <CloseButton
              size="sm"
              mb={3}
              aria-label={`Remove tool call ${index + 1}`}
              onClick={() => onChange(calls.toSpliced(index, 1))}
            />
          </Group>
          <Textarea
            size="xs"
            mt={4}
            autosize
            minRows={1}
            maxRows={12}
            aria-label={`Arguments of tool call ${index + 1}`}
            styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
            value={call.args}
            error={isBrokenJson(call.args) ? "Invalid JSON" : undefined}
            onChange={({ currentTarget }) => change(index, { args: currentTarget.value })}
          />
        </div>
      ))}
      <Group>
        <Button
          size="compact-xs"
          variant="subtle"
          color="neutral"
          leftSection={<IconPlus size={12} aria-hidden />}
          onClick={() => onChange([...calls, { id: `call_${newId().slice(0, 8)}`, name: "", args: "{}" }])}
        >
          Add tool call
        </Button>
      </Group>
    </Stack>
  );
}
