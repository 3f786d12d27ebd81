import {
  Button,
  CloseButton,
  Fieldset,
  Group,
  NumberInput,
  Select,
  Stack,
  Switch,
  TagsInput,
  Textarea,
} from "@mantine/core";
import { useState } from "react";

import { emptyValue, type JsonSchema, isBrokenJson, readAny, readField, withProperty } from "./schema.ts";

interface SchemaFieldProps {
  name: string;
  schema: JsonSchema;
  root: JsonSchema;
  isRequired: boolean;
  value: unknown;
  /** Called with undefined when the field is empty. */
  onChange: (value: unknown) => void;
}

export function SchemaField({ name, schema: rawSchema, root, isRequired, value, onChange }: SchemaFieldProps) {
  const { kind, schema } = readField(rawSchema, root);
  const common = { label: schema.title ?? name, description: schema.description, withAsterisk: isRequired };
  const placeholder = schema.default === undefined ? undefined : String(JSON.stringify(schema.default));
  switch (kind) {
    case "text":
      return (
        <Textarea
          {...common}
          autosize
          minRows={1}
          maxRows={8}
          placeholder={placeholder}
          value={typeof value === "string" ? value : ""}
          onChange={({ currentTarget }) => onChange(currentTarget.value === "" ? undefined : currentTarget.value)}
        />
      );
    case "number":
    case "integer":
      return (
        <NumberInput
          {...common}
          allowDecimal={kind === "number"}
          min={schema.minimum}
          max={schema.maximum}
          placeholder={placeholder}
          value={typeof value === "number" ? value : ""}
          onChange={(next) => onChange(next === "" ? undefined : Number(next))}
        />
      );
    case "boolean":
      return (
        <Switch
          label={common.label}
          description={common.description}
          checked={(value ?? schema.default) === true}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
      );
    case "choice":
      return (
        <Select
          {...common}
          clearable
          placeholder={placeholder ?? "–"}
          data={schema.enum!.map((option) => ({ value: JSON.stringify(option), label: String(option) }))}
          value={value === undefined ? null : JSON.stringify(value)}
          onChange={(next) => onChange(next === null ? undefined : (JSON.parse(next) as unknown))}
        />
      );
    case "texts":
      return (
        <TagsInput
          {...common}
          placeholder="Press Enter to add"
          allowDuplicates
          value={Array.isArray(value) ? value.map(String) : []}
          onChange={(next) => onChange(next.length === 0 ? undefined : next)}
        />
      );
    case "object":
      return (
        <ObjectField
          name={name}
          schema={schema}
          root={root}
          isRequired={isRequired}
          value={value}
          onChange={onChange}
        />
      );
    case "list":
      return (
        <ListField name={name} schema={schema} root={root} isRequired={isRequired} value={value} onChange={onChange} />
      );
    case "any":
      return <AnyField {...common} placeholder={placeholder} value={value} onChange={onChange} />;
  }
}

function ObjectField({ name, schema, root, value, onChange }: SchemaFieldProps) {
  const fields = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  return (
    <Fieldset legend={schema.title ?? name} p="xs">
      <Stack gap="xs">
        {Object.entries(schema.properties ?? {}).map(([key, property]) => (
          <SchemaField
            key={key}
            name={key}
            schema={property}
            root={root}
            isRequired={schema.required?.includes(key) ?? false}
            value={fields[key]}
            onChange={(next) => {
              const changed = withProperty(fields, key, next);
              onChange(Object.keys(changed).length === 0 ? undefined : changed);
            }}
          />
        ))}
      </Stack>
    </Fieldset>
  );
}

function ListField({ name, schema, root, value, onChange }: SchemaFieldProps) {
  const entries = Array.isArray(value) ? (value as unknown[]) : [];
  const items = schema.items as JsonSchema;
  return (
    <Fieldset legend={schema.title ?? name} p="xs">
      <Stack gap="xs">
        {entries.map((entry, index) => (
          <Group key={index} gap={4} wrap="nowrap" align="flex-start">
            <div style={{ flex: 1, minWidth: 0 }}>
              <SchemaField
                name={`${name} ${index + 1}`}
                schema={items}
                root={root}
                isRequired={false}
                value={entry}
                onChange={(next) => onChange(entries.with(index, next ?? emptyValue(items, root)))}
              />
            </div>
            <CloseButton
              aria-label={`Remove ${name} ${index + 1}`}
              onClick={() => onChange(entries.length === 1 ? undefined : entries.toSpliced(index, 1))}
            />
          </Group>
        ))}
        <Button size="compact-xs" variant="default" onClick={() => onChange([...entries, emptyValue(items, root)])}>
          Add item
        </Button>
      </Stack>
    </Fieldset>
  );
}

interface AnyFieldProps {
  label: string;
  description?: string | undefined;
  withAsterisk: boolean;
  placeholder?: string | undefined;
  value: unknown;
  onChange: (value: unknown) => void;
}

/** Field for text; the parsed interpretation is shown below. */
function AnyField({ value, onChange, placeholder, ...common }: AnyFieldProps) {
  const [text, setText] = useState(() =>
    value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value),
  );
  const shown = text.trim() === "" && value !== undefined ? "" : text;
  return (
    <Textarea
      {...common}
      autosize
      minRows={1}
      maxRows={12}
      styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
      placeholder={placeholder ?? "text or JSON"}
      value={shown}
      error={isBrokenJson(text) ? "Invalid JSON; it would be sent as text." : undefined}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value);
        onChange(readAny(currentTarget.value));
      }}
    />
  );
}
