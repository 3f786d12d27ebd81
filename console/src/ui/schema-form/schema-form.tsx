import { Stack } from "@mantine/core";

import { SchemaField } from "./schema-field.tsx";
import { type JsonSchema, withProperty } from "./schema.ts";

interface SchemaFormProps {
  schema: JsonSchema;
  value: Record<string, unknown>;
  onChange: (value: Record<string, unknown>) => void;
  /** Properties that other fields cover. */
  without?: ReadonlySet<string>;
}

/** Form for an object's schema. Empty fields are omitted from the value. */
export function SchemaForm({ schema, value, onChange, without }: SchemaFormProps) {
  const names = Object.keys(schema.properties ?? {}).filter((name) => !without?.has(name));
  return (
    <Stack gap="xs">
      {names.map((name) => (
        <SchemaField
          key={name}
          name={name}
          schema={schema.properties![name]!}
          root={schema}
          isRequired={schema.required?.includes(name) ?? false}
          value={value[name]}
          onChange={(next) => onChange(withProperty(value, name, next))}
        />
      ))}
    </Stack>
  );
}
