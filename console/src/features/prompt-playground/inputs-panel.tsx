import { Stack, Text, Textarea, Title } from "@mantine/core";
import type { Dispatch } from "react";

import { isBrokenJson } from "../../ui/schema-form/schema.ts";
import type { Draft, DraftAction } from "./draft.ts";
import { missingInputs } from "./build-request.ts";
import type { Variable } from "./template.ts";
import { ownValues, promptVariables } from "./write-manifest.ts";

/** Values of the variables of all prompts on the page, which share them. */
export function InputsPanel({ draft, dispatch }: { draft: Draft; dispatch: Dispatch<DraftAction> }) {
  const variables = new Map<string, Variable>();
  for (const prompt of draft.prompts) {
    for (const variable of promptVariables(prompt))
      variables.set(variable.name, variables.get(variable.name) ?? variable);
  }
  if (variables.size === 0) return null;
  const missing = new Set(draft.prompts.flatMap((prompt) => missingInputs(prompt, draft.inputs)));
  return (
    <section aria-label="Variables">
      <Title order={2} size="h6" mt="md" mb={6}>
        Variables
      </Title>
      <Stack gap="xs">
        {[...variables.values()].map(({ name, kind }) => (
          <Textarea
            key={name}
            label={name}
            description={DESCRIPTIONS[kind]}
            autosize
            minRows={1}
            maxRows={12}
            withAsterisk={missing.has(name)}
            placeholder={defaultValue(draft, name)}
            value={draft.inputs[name] ?? ""}
            error={kind !== "text" && isBrokenJson(draft.inputs[name] ?? "") ? "Invalid JSON" : undefined}
            onChange={({ currentTarget }) => dispatch({ type: "input", name, value: currentTarget.value })}
          />
        ))}
      </Stack>
      <Text size="xs" c="dimmed" mt={4}>
        {draft.prompts.length > 1 ? "Shared by all prompts." : ""}
      </Text>
    </section>
  );
}

const DESCRIPTIONS: Record<Variable["kind"], string | undefined> = {
  text: undefined,
  json: "Text or JSON",
  messages: "List of messages as JSON, or the text of one message",
};

/** Returns the value that the prompt itself has for a variable. */
function defaultValue({ prompts }: Draft, name: string): string | undefined {
  for (const prompt of prompts) {
    const value = ownValues(prompt)[name];
    if (typeof value === "string") return value;
  }
  return undefined;
}
