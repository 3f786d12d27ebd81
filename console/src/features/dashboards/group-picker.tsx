import { Group, Select, TextInput } from "@mantine/core";
import { useState } from "react";

const CHOICES = [
  { value: "", label: "No groups" },
  { value: "name", label: "Name" },
  { value: "model", label: "Model" },
  { value: "tag", label: "Tag" },
  { value: "metadata", label: "Metadata" },
  { value: "revision", label: "Revision" },
  { value: "prompt_commit", label: "Prompt commit" },
  { value: "feedback", label: "Feedback value" },
  { value: "run_type", label: "Type of run" },
  { value: "graph", label: "Graph" },
  { value: "assistant", label: "Assistant" },
  { value: "project", label: "Project" },
];
const AGENT_CHOICES = [
  { value: "", label: "No groups" },
  { value: "graph", label: "Graph" },
  { value: "assistant", label: "Assistant" },
  { value: "status", label: "Status" },
  { value: "project", label: "Deployment" },
];

interface GroupPickerProps {
  label: string;
  /** Whether the label is for screen readers only. */
  isCompact?: boolean;
  /** Whether metrics of agents are grouped, and not runs. */
  isOfAgents?: boolean;
  /** Such as `model` or `metadata:plan`. */
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

export function GroupPicker({ label, isCompact = false, isOfAgents = false, value, onChange }: GroupPickerProps) {
  const [attribute, path = ""] = (value ?? "").split(/:(.*)/s) as [string, string?];
  const [asked, setAsked] = useState<string | null>(null);
  const [key, setKey] = useState(path);
  const shown = asked ?? attribute;
  const needsKey = shown === "metadata" || shown === "feedback";
  const apply = () => {
    setAsked(null);
    onChange(key.trim() === "" ? undefined : `${shown}:${key.trim()}`);
  };
  return (
    <Group gap="xs" align="flex-end" wrap="nowrap">
      <Select
        {...(isCompact ? { "aria-label": label, size: "xs", w: 150 } : { label, flex: 1 })}
        data={isOfAgents ? AGENT_CHOICES : CHOICES}
        allowDeselect={false}
        value={shown}
        onChange={(next) => {
          const isPair = next === "metadata" || next === "feedback";
          setAsked(isPair ? next : null);
          if (!isPair) onChange(next === "" || next === null ? undefined : next);
        }}
      />
      {needsKey && (
        <TextInput
          aria-label={shown === "metadata" ? "Metadata key" : "Feedback key"}
          placeholder="key"
          size={isCompact ? "xs" : "sm"}
          w={130}
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
          onBlur={apply}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            apply();
          }}
        />
      )}
    </Group>
  );
}
