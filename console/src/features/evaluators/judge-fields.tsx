import {
  ActionIcon,
  Button,
  Group,
  NativeSelect,
  NumberInput,
  SegmentedControl,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
  Title,
} from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import type { ReactNode } from "react";

import { AnchorLink } from "../../ui/links.tsx";
import { newId } from "../../ui/new-id.ts";
import { ModelPicker } from "../prompt-playground/model-picker.tsx";
import { templateProblem, type TemplateFormat } from "../prompt-playground/template.ts";
import type { EvaluatorDraft } from "./draft.ts";
import { MappingFields } from "./mapping-fields.tsx";
import { ScoreFields } from "./score-fields.tsx";

interface JudgeFieldsProps {
  draft: EvaluatorDraft;
  projectId: string | null;
  onChange: (change: Partial<EvaluatorDraft>) => void;
}

const ROLES = [
  { value: "system", label: "System" },
  { value: "user", label: "User" },
  { value: "assistant", label: "Assistant" },
];

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <section aria-label={title}>
    <Title order={2} size="h6" mb={6}>
      {title}
    </Title>
    {children}
  </section>
);

/** Fields of a judge: model, prompt, mapping and scores. */
export function JudgeFields({ draft, projectId, onChange }: JudgeFieldsProps) {
  return (
    <Stack gap="md">
      <Part title="Model">
        <Group>
          <ModelPicker letter="the judge" model={draft.model} onChange={(model) => onChange({ model })} />
        </Group>
      </Part>
      <Part title="Prompt">
        <Group gap="xs" mb="xs">
          <SegmentedControl
            size="xs"
            aria-label="Source of the prompt"
            data={[
              { value: "inline", label: "Messages" },
              { value: "registry", label: "Prompt of the workspace" },
            ]}
            value={draft.source}
            onChange={(source) => onChange({ source: source as EvaluatorDraft["source"] })}
          />
          {draft.source === "inline" && (
            <NativeSelect
              size="xs"
              aria-label="Template format"
              data={[
                { value: "mustache", label: "mustache {{x}}" },
                { value: "f-string", label: "f-string {x}" },
              ]}
              value={draft.format}
              onChange={({ currentTarget: { value } }) => onChange({ format: value as TemplateFormat })}
            />
          )}
        </Group>
        {draft.source === "registry" ? (
          <RegistryFields draft={draft} onChange={onChange} />
        ) : (
          <Messages draft={draft} onChange={onChange} />
        )}
      </Part>
      <Part title="Variables">
        <MappingFields draft={draft} projectId={projectId} onChange={(mapping) => onChange({ mapping })} />
      </Part>
      <Part title="Scores">
        {draft.source === "registry" && draft.scores.length === 0 && (
          <Text size="sm" c="dimmed" mb={6}>
            The scores are those of the prompt's output schema.
          </Text>
        )}
        <ScoreFields
          scores={draft.scores}
          mayBeEmpty={draft.source === "registry"}
          onChange={(scores) => onChange({ scores })}
        />
      </Part>
      <Group gap="md" align="flex-end">
        <Switch
          size="xs"
          label="Reason before the score"
          checked={draft.reasoning}
          onChange={({ currentTarget: { checked } }) => onChange({ reasoning: checked })}
        />
        <NumberInput
          size="xs"
          w={260}
          label="Corrections as examples"
          description="Newest judgements that people corrected, shown to the judge"
          min={0}
          max={20}
          value={draft.examples}
          onChange={(examples) => onChange({ examples })}
        />
        {draft.correctionsDataset !== null && (
          <AnchorLink to="/datasets/$datasetId" params={{ datasetId: draft.correctionsDataset }} size="sm">
            Corrections
          </AnchorLink>
        )}
      </Group>
    </Stack>
  );
}

type FieldsProps = Pick<JudgeFieldsProps, "draft" | "onChange">;

const RegistryFields = ({ draft, onChange }: FieldsProps) => (
  <Group gap="xs" grow>
    <TextInput
      size="xs"
      label="Prompt"
      placeholder="name or owner/name"
      value={draft.repo}
      onChange={({ currentTarget: { value } }) => onChange({ repo: value })}
    />
    <TextInput
      size="xs"
      label="Commit or tag"
      value={draft.commit}
      onChange={({ currentTarget: { value } }) => onChange({ commit: value })}
    />
  </Group>
);

function Messages({ draft, onChange }: FieldsProps) {
  const { messages, format } = draft;
  const change = (id: string, by: Partial<(typeof messages)[number]>) =>
    onChange({ messages: messages.map((message) => (message.id === id ? { ...message, ...by } : message)) });
  return (
    <Stack gap="xs">
      {messages.map((message, i) => (
        <Stack key={message.id} gap={4} role="group" aria-label={`Message ${i + 1}`}>
          <Group justify="space-between">
            <NativeSelect
              size="xs"
              aria-label={`Role of message ${i + 1}`}
              data={ROLES}
              value={message.role}
              onChange={({ currentTarget: { value } }) => change(message.id, { role: value as never })}
            />
            <ActionIcon
              variant="subtle"
              color="neutral"
              aria-label={`Remove message ${i + 1}`}
              disabled={messages.length === 1}
              onClick={() => onChange({ messages: messages.filter(({ id }) => id !== message.id) })}
            >
              <IconTrash size={16} aria-hidden />
            </ActionIcon>
          </Group>
          <Textarea
            size="xs"
            aria-label={`Text of message ${i + 1}`}
            autosize
            minRows={3}
            maxRows={24}
            error={templateProblem(message.content, format)}
            value={message.content}
            onChange={({ currentTarget: { value } }) => change(message.id, { content: value })}
          />
        </Stack>
      ))}
      <Group>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => onChange({ messages: [...messages, { id: newId(), role: "user", content: "" }] })}
        >
          Add message
        </Button>
      </Group>
    </Stack>
  );
}
