import { Button, Group, Title } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";

import { JsonField } from "../../ui/json-field.tsx";
import { isBrokenJson } from "../../ui/schema-form/schema.ts";

const EXAMPLE = {
  title: "answer",
  type: "object",
  properties: { answer: { type: "string", description: "The answer" } },
  required: ["answer"],
};

interface SchemaEditorProps {
  value: string;
  onChange: (schema: string) => void;
}

/** JSON Schema that the model's answer follows. */
export function SchemaEditor({ value, onChange }: SchemaEditorProps) {
  return (
    <section aria-label="Output schema">
      <Group justify="space-between" mt="md" mb={6} mih={30}>
        <Title order={2} size="h6">
          Output schema
        </Title>
        {value !== "" && (
          <Button size="compact-xs" variant="subtle" color="neutral" onClick={() => onChange("")}>
            Remove schema
          </Button>
        )}
      </Group>
      {value === "" ? (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => onChange(JSON.stringify(EXAMPLE, null, 2))}
        >
          Add schema
        </Button>
      ) : (
        <JsonField
          label="JSON Schema of the output"
          value={value}
          onChange={onChange}
          minHeight="8rem"
          error={isBrokenJson(value) ? "Invalid JSON" : null}
        />
      )}
    </section>
  );
}
