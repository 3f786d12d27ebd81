import { Stack, Text } from "@mantine/core";

import { JsonView } from "../../ui/json-view.tsx";
import { Content } from "../../ui/messages/content.tsx";
import classes from "./field-list.module.css";
import { textEntries, textFields } from "./find-messages.ts";

interface FieldListProps {
  fields: readonly (readonly [name: string, value: unknown])[];
  depth?: number;
}

/** Fields below their names: texts as Markdown, objects with texts field by field, other values as JSON. */
export function FieldList({ fields, depth = 0 }: FieldListProps) {
  return (
    <Stack gap="xs" className={depth > 0 ? classes["inner"] : undefined}>
      {fields.map(([name, value]) => (
        <section key={name} aria-label={name}>
          <Text size="xs" c="dimmed" fw={600} mb={2}>
            {name}
          </Text>
          <FieldValue name={name} value={value} depth={depth} />
        </section>
      ))}
    </Stack>
  );
}

function FieldValue({ name, value, depth }: { name: string; value: unknown; depth: number }) {
  if (typeof value === "string") return <Content content={value === "" ? "–" : value} />;
  if (typeof value === "number" || typeof value === "boolean" || value === null) {
    return (
      <Text size="sm" ff="monospace">
        {String(value)}
      </Text>
    );
  }
  const inner = depth === 0 ? textFields(value, 1) : null;
  if (inner) return <FieldList fields={inner} depth={1} />;
  const entries = depth === 0 ? textEntries(value) : null;
  if (!entries) return <JsonView value={value} label={name} />;
  return (
    <Stack gap="xs">
      {entries.map((entry, index) => (
        <FieldList key={index} fields={entry} depth={1} />
      ))}
    </Stack>
  );
}
