import { MultiSelect, Stack, Text } from "@mantine/core";

import { JsonField } from "../../ui/json-field.tsx";
import { SchemaForm } from "../../ui/schema-form/schema-form.tsx";
import type { JsonSchema } from "../../ui/schema-form/schema.ts";
import type { SetupDraft } from "./read-setup.ts";

interface SetupPanelProps {
  /** Schema of the context, or of the config for graphs without a context. */
  schema: JsonSchema | null;
  kind: "context" | "config";
  nodes: readonly string[];
  draft: SetupDraft;
  error: string | null;
  onChange: (draft: SetupDraft) => void;
}

/** Options of every run: context or config by its schema, breakpoints, and config as JSON. */
export function SetupPanel({ schema, kind, nodes, draft, error, onChange }: SetupPanelProps) {
  const hasForm = Object.keys(schema?.properties ?? {}).length > 0;
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        Applied to each run from this page.
      </Text>
      {hasForm && (
        <Stack gap="xs" role="group" aria-label={kind === "context" ? "Context" : "Config"}>
          <Text size="sm" fw={600}>
            {kind === "context" ? "Context" : "Config"}
          </Text>
          <SchemaForm schema={schema!} value={draft.fields} onChange={(fields) => onChange({ ...draft, fields })} />
        </Stack>
      )}
      <MultiSelect
        label="Stop before"
        placeholder={draft.before.length === 0 ? "none" : ""}
        data={[...nodes]}
        value={draft.before}
        onChange={(before) => onChange({ ...draft, before })}
      />
      <MultiSelect
        label="Stop after"
        placeholder={draft.after.length === 0 ? "none" : ""}
        data={[...nodes]}
        value={draft.after}
        onChange={(after) => onChange({ ...draft, after })}
      />
      <JsonField
        label="Config as JSON"
        description="configurable, recursion_limit, tags, metadata"
        value={draft.config}
        error={error}
        placeholder={'{"recursion_limit": 50}'}
        onChange={(config) => onChange({ ...draft, config })}
      />
    </Stack>
  );
}
