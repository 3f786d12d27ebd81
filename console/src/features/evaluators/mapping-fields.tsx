import { Autocomplete, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { type EvaluatorDraft, variablesOf } from "./draft.ts";
import { sampleRunQuery } from "./queries.ts";
import { suggestPaths } from "./run-paths.ts";

interface MappingFieldsProps {
  draft: EvaluatorDraft;
  /** Project whose newest run suggests paths. */
  projectId: string | null;
  onChange: (mapping: Record<string, string>) => void;
}

/** Path of each variable of the prompt, with suggestions from a run. */
export function MappingFields({ draft, projectId, onChange }: MappingFieldsProps) {
  const [added, setAdded] = useState("");
  const sample = useQuery({ ...sampleRunQuery(projectId ?? ""), enabled: projectId !== null });
  const paths = suggestPaths(draft.subject, sample.data);
  const names = variablesOf(draft);
  return (
    <Stack gap={6}>
      {names.length === 0 && (
        <Text size="sm" c="dimmed">
          {draft.source === "registry"
            ? "Variables without a path are read by their own name: question, answer, input, output, reference …"
            : "The messages have no variables."}
        </Text>
      )}
      {names.map((name) => (
        <Autocomplete
          key={name}
          size="xs"
          label={name}
          placeholder={name}
          data={paths}
          limit={60}
          maxDropdownHeight={240}
          value={draft.mapping[name] ?? ""}
          onChange={(path) => onChange({ ...draft.mapping, [name]: path })}
        />
      ))}
      {draft.source === "registry" && (
        <Group gap={6} align="flex-end" wrap="nowrap">
          <TextInput
            size="xs"
            label="Variable"
            placeholder="Name of a variable of the prompt"
            style={{ flex: 1 }}
            value={added}
            onChange={({ currentTarget: { value } }) => setAdded(value)}
          />
          <Button
            size="xs"
            variant="default"
            disabled={added.trim() === ""}
            onClick={() => {
              onChange({ ...draft.mapping, [added.trim()]: "" });
              setAdded("");
            }}
          >
            Add
          </Button>
        </Group>
      )}
    </Stack>
  );
}
