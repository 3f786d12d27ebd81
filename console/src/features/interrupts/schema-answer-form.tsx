import { Button, Group, Text } from "@mantine/core";
import { useState } from "react";

import type { JsonSchema } from "../../ui/schema-form/schema.ts";
import { SchemaForm } from "../../ui/schema-form/schema-form.tsx";
import { missingFields } from "./answer-schema.ts";

export interface SchemaAnswerFormProps {
  schema: JsonSchema;
  isBusy: boolean;
  onAnswer: (value: unknown) => void;
}

/** Form for an answer whose JSON schema is in the payload. */
export function SchemaAnswerForm({ schema, isBusy, onAnswer }: SchemaAnswerFormProps) {
  const [fields, setFields] = useState<Record<string, unknown>>({});
  const missing = missingFields(schema, fields);
  return (
    <form
      aria-label="Answer"
      onSubmit={(event) => {
        event.preventDefault();
        if (missing.length === 0) onAnswer(fields);
      }}
    >
      <SchemaForm schema={schema} value={fields} onChange={setFields} />
      <Group gap="xs" mt="sm">
        <Button type="submit" size="xs" loading={isBusy} disabled={missing.length > 0}>
          Answer
        </Button>
        {missing.length > 0 && (
          <Text size="xs" c="dimmed">
            Required: {missing.join(", ")}
          </Text>
        )}
      </Group>
    </form>
  );
}
