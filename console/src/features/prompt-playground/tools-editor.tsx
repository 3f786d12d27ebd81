import {
  Button,
  Checkbox,
  CloseButton,
  Group,
  NativeSelect,
  SegmentedControl,
  Stack,
  Text,
  TextInput,
  Title,
} from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";

import { JsonField } from "../../ui/json-field.tsx";
import { newId } from "../../ui/new-id.ts";
import classes from "./prompt-playground.module.css";
import type { DraftTool, Prompt } from "./prompt.ts";
import {
  NEW_TOOL,
  type Parameter,
  PARAMETER_TYPES,
  readToolForm,
  toolName,
  type ToolForm,
  writeToolForm,
} from "./tool-form.ts";

interface ToolsEditorProps {
  prompt: Prompt;
  onChange: (change: Pick<Partial<Prompt>, "tools" | "toolChoice">) => void;
}

/** Tools that the model may call, and the tool choice. */
export function ToolsEditor({ prompt: { tools, toolChoice }, onChange }: ToolsEditorProps) {
  const names = [...new Set(tools.map(({ text }) => toolName(text)).filter((name) => name !== ""))];
  return (
    <section aria-label="Tools">
      <Group justify="space-between" mt="md" mb={6} mih={30}>
        <Title order={2} size="h6">
          Tools
        </Title>
        {tools.length > 0 && (
          <NativeSelect
            size="xs"
            aria-label="Tool choice"
            data={[
              { value: "", label: "Default choice" },
              { value: "auto", label: "Auto" },
              { value: "required", label: "Some tool" },
              { value: "none", label: "No tool" },
              ...names.map((name) => ({ value: name, label: `Only ${name}` })),
            ]}
            value={toolChoice}
            onChange={({ currentTarget }) => onChange({ toolChoice: currentTarget.value })}
          />
        )}
      </Group>
      <Stack gap="xs">
        {tools.map((tool, index) => (
          <ToolCard
            key={tool.key}
            tool={tool}
            index={index}
            onChange={(text) => onChange({ tools: tools.with(index, { ...tool, text }) })}
            onRemove={() => onChange({ tools: tools.toSpliced(index, 1) })}
          />
        ))}
      </Stack>
      <Button
        size="compact-sm"
        variant="default"
        mt={tools.length > 0 ? "xs" : 0}
        leftSection={<IconPlus size={14} aria-hidden />}
        onClick={() => onChange({ tools: [...tools, { key: newId(), text: JSON.stringify(NEW_TOOL, null, 2) }] })}
      >
        Add tool
      </Button>
    </section>
  );
}

interface ToolCardProps {
  tool: DraftTool;
  index: number;
  onChange: (text: string) => void;
  onRemove: () => void;
}

function ToolCard({ tool: { text }, index, onChange, onRemove }: ToolCardProps) {
  const form = readToolForm(text);
  const [mode, setMode] = useState<"form" | "json">(form ? "form" : "json");
  return (
    <div className={classes["message"]} role="group" aria-label={`Tool ${index + 1}`}>
      <Group gap={4} className={classes["head"]} wrap="nowrap" mih={32}>
        <Text size="sm" fw={500} truncate>
          {toolName(text) || `Tool ${index + 1}`}
        </Text>
        <Group gap={4} ms="auto" wrap="nowrap">
          <SegmentedControl
            size="xs"
            aria-label={`Format of tool ${index + 1}`}
            data={[
              { value: "form", label: "Form", disabled: form === null },
              { value: "json", label: "JSON" },
            ]}
            value={mode}
            onChange={(next) => setMode(next as "form" | "json")}
          />
          <CloseButton size="sm" aria-label={`Remove tool ${index + 1}`} onClick={onRemove} />
        </Group>
      </Group>
      <div className={classes["body"]}>
        {mode === "form" && form ? (
          <ToolFields form={form} onChange={(next) => onChange(writeToolForm(text, next))} />
        ) : (
          <JsonField label={`Tool ${index + 1} as JSON`} value={text} onChange={onChange} minHeight="8rem" />
        )}
      </div>
    </div>
  );
}

function ToolFields({ form, onChange }: { form: ToolForm; onChange: (form: ToolForm) => void }) {
  const change = (index: number, next: Partial<Parameter>) =>
    onChange({ ...form, parameters: form.parameters.with(index, { ...form.parameters[index]!, ...next }) });
  return (
    <Stack gap={6}>
      <TextInput
        size="xs"
        label="Name"
        value={form.name}
        onChange={({ currentTarget }) => onChange({ ...form, name: currentTarget.value })}
      />
      <TextInput
        size="xs"
        label="Description"
        value={form.description}
        onChange={({ currentTarget }) => onChange({ ...form, description: currentTarget.value })}
      />
      {form.parameters.map((parameter, index) => (
        <Group key={index} gap={4} wrap="nowrap" align="center" role="group" aria-label={`Parameter ${index + 1}`}>
          <TextInput
            size="xs"
            aria-label="Parameter"
            placeholder="parameter"
            style={{ flex: 2, minWidth: 0 }}
            value={parameter.name}
            onChange={({ currentTarget }) => change(index, { name: currentTarget.value })}
          />
          <NativeSelect
            size="xs"
            aria-label="Type"
            data={[...PARAMETER_TYPES]}
            value={parameter.type}
            onChange={({ currentTarget }) => change(index, { type: currentTarget.value as Parameter["type"] })}
          />
          <TextInput
            size="xs"
            aria-label="Description of the parameter"
            placeholder="description"
            style={{ flex: 3, minWidth: 0 }}
            value={parameter.description}
            onChange={({ currentTarget }) => change(index, { description: currentTarget.value })}
          />
          <Checkbox
            size="xs"
            aria-label="Required"
            title="Required"
            checked={parameter.isRequired}
            onChange={({ currentTarget }) => change(index, { isRequired: currentTarget.checked })}
          />
          <CloseButton
            size="xs"
            aria-label={`Remove parameter ${index + 1}`}
            onClick={() => onChange({ ...form, parameters: form.parameters.toSpliced(index, 1) })}
          />
        </Group>
      ))}
      <Group>
        <Button
          size="compact-xs"
          variant="subtle"
          color="neutral"
          disabled={form.parameters.some(({ name }) => name === "")}
          onClick={() =>
            onChange({
              ...form,
              parameters: [...form.parameters, { name: "", type: "string", description: "", isRequired: true }],
            })
          }
        >
          Add parameter
        </Button>
      </Group>
    </Stack>
  );
}
