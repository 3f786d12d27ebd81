import { Alert, Button, Group, NativeSelect, SimpleGrid, Stack, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { CodeFields } from "./code-fields.tsx";
import type { EvaluatorDraft, Subject } from "./draft.ts";
import { JudgeFields } from "./judge-fields.tsx";
import { TryPanel } from "./try-panel.tsx";

interface EvaluatorFormProps {
  initial: EvaluatorDraft;
  /** Absent for a new one. */
  evaluatorId?: string;
  /** Verb on the button. */
  action: string;
  denial: string | null;
  onSave: (draft: EvaluatorDraft) => Promise<unknown>;
}

const SUBJECTS = [
  { value: "run", label: "A run" },
  { value: "trace", label: "A trace, with its steps" },
  { value: "thread", label: "A thread, turn by turn" },
  { value: "pair", label: "A pair of runs" },
];

/** Form of an evaluator, with its trial beside. */
export function EvaluatorForm({ initial, evaluatorId, action, denial, onSave }: EvaluatorFormProps) {
  const [draft, setDraft] = useState(initial);
  const [projectId, setProjectId] = useState<string | null>(null);
  const change = (by: Partial<EvaluatorDraft>) => setDraft((before) => ({ ...before, ...by }));
  const save = useMutation({ mutationFn: () => onSave(draft) });
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack gap="md">
          <Group gap="xs" align="flex-end">
            <TextInput
              size="xs"
              label="Name"
              required
              style={{ flex: 1, minWidth: 160 }}
              value={draft.name}
              onChange={({ currentTarget: { value } }) => change({ name: value })}
            />
            <NativeSelect
              size="xs"
              label="Type"
              disabled={evaluatorId !== undefined}
              data={[
                { value: "llm", label: "Judge (model)" },
                { value: "code", label: "Code" },
              ]}
              value={draft.type}
              onChange={({ currentTarget: { value } }) => change({ type: value as EvaluatorDraft["type"] })}
            />
            <NativeSelect
              size="xs"
              label="Judges"
              data={SUBJECTS}
              value={draft.subject}
              onChange={({ currentTarget: { value } }) => change({ subject: value as Subject })}
            />
          </Group>
          <TextInput
            size="xs"
            label="Description"
            value={draft.description}
            onChange={({ currentTarget: { value } }) => change({ description: value })}
          />
          {draft.type === "llm" ? (
            <JudgeFields draft={draft} projectId={projectId} onChange={change} />
          ) : (
            <CodeFields draft={draft} onChange={change} />
          )}
          {save.error && (
            <Alert color="danger" role="alert" style={{ overflowWrap: "anywhere" }}>
              {save.error.message}
            </Alert>
          )}
          <Group justify="flex-end">
            <Button
              type="submit"
              size="xs"
              disabled={denial !== null}
              title={denial ?? undefined}
              loading={save.isPending}
            >
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
      <TryPanel draft={draft} evaluatorId={evaluatorId} projectId={projectId} onProject={setProjectId} />
    </SimpleGrid>
  );
}
