import { ActionIcon, Button, Group, Select, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconPlus, IconTrash } from "@tabler/icons-react";

import { type DraftMessage, newMessage, type Prompt } from "../prompt-playground/prompt.ts";
import { writeMessage } from "../prompt-playground/write-manifest.ts";
import { readMessage } from "./manifest.ts";
import { MessageBlock } from "./prompt-view.tsx";

const ROLES: { value: DraftMessage["role"]; label: string }[] = [
  { value: "system", label: "System" },
  { value: "human", label: "Human" },
  { value: "ai", label: "AI" },
  { value: "placeholder", label: "Messages" },
];

interface MessageFieldsProps {
  draft: Prompt;
  onChange: (messages: DraftMessage[]) => void;
}

/** Whether the form can edit a message: a template of one text, or a placeholder. The playground edits the others. */
const isEditable = ({ role, content, isTemplate }: DraftMessage): boolean =>
  isTemplate && typeof content === "string" && ROLES.some(({ value }) => value === role);

/** Fields for the messages of a prompt; a text prompt has one. */
export function MessageFields({ draft: { kind, format, messages }, onChange }: MessageFieldsProps) {
  const change = (index: number, changes: Partial<DraftMessage>) =>
    onChange(messages.map((message, at) => (at === index ? { ...message, ...changes } : message)));
  if (kind === "string") {
    return (
      <TemplateField
        label="Template"
        value={messages[0]!.content as string}
        onChange={(content) => change(0, { content })}
        hasFocus
      />
    );
  }
  const move = (index: number, to: number) => {
    const next = [...messages];
    const [moved] = next.splice(index, 1);
    next.splice(to, 0, moved!);
    onChange(next);
  };
  return (
    <Stack gap="sm">
      {messages.map((message, index) => {
        const label = `Message ${index + 1}`;
        return (
          <section key={message.key} aria-label={label}>
            <Group gap={4} mb={4} wrap="nowrap">
              {!isEditable(message) ? (
                <Text size="sm" c="dimmed">
                  Edit this message in the playground or as JSON.
                </Text>
              ) : (
                <Select
                  aria-label={`Role of message ${index + 1}`}
                  size="xs"
                  w={120}
                  data={ROLES}
                  value={message.role}
                  allowDeselect={false}
                  onChange={(role) => change(index, changeRole(message, role as DraftMessage["role"]))}
                />
              )}
              <Group gap={0} ms="auto" wrap="nowrap">
                <IconButton
                  label={`Move message ${index + 1} up`}
                  icon={IconArrowUp}
                  isDisabled={index === 0}
                  onClick={() => move(index, index - 1)}
                />
                <IconButton
                  label={`Move message ${index + 1} down`}
                  icon={IconArrowDown}
                  isDisabled={index === messages.length - 1}
                  onClick={() => move(index, index + 1)}
                />
                <IconButton
                  label={`Remove message ${index + 1}`}
                  icon={IconTrash}
                  isDisabled={messages.length === 1}
                  onClick={() => onChange(messages.filter((_, at) => at !== index))}
                />
              </Group>
            </Group>
            {!isEditable(message) ? (
              <MessageBlock message={readMessage(writeMessage(message, format))} />
            ) : message.role === "placeholder" ? (
              <TextInput
                aria-label={`Variable of message ${index + 1}`}
                placeholder="history"
                value={message.name}
                onChange={({ currentTarget: { value } }) => change(index, { name: value })}
              />
            ) : (
              <TemplateField
                label={`Text of message ${index + 1}`}
                isHidden
                hasFocus={index === 0}
                value={message.content as string}
                onChange={(content) => change(index, { content })}
              />
            )}
          </section>
        );
      })}
      <Button
        size="xs"
        variant="default"
        leftSection={<IconPlus size={14} aria-hidden />}
        style={{ alignSelf: "flex-start" }}
        onClick={() => onChange([...messages, newMessage("human")])}
      >
        Add message
      </Button>
    </Stack>
  );
}

/** Changes a message's role; a placeholder names a variable instead of having a text. */
function changeRole(message: DraftMessage, role: DraftMessage["role"]): Partial<DraftMessage> {
  if (role === "placeholder") return { role, name: message.name || "messages" };
  return { role };
}

interface TemplateFieldProps {
  label: string;
  /** Whether the label is only for screen readers. */
  isHidden?: boolean;
  hasFocus?: boolean;
  value: string;
  onChange: (value: string) => void;
}

const TemplateField = ({ label, isHidden = false, hasFocus = false, value, onChange }: TemplateFieldProps) => (
  <Textarea
    {...(isHidden ? { "aria-label": label } : { label })}
    {...(hasFocus && { "data-autofocus": true })}
    autosize
    minRows={2}
    maxRows={16}
    spellCheck
    value={value}
    onChange={({ currentTarget }) => onChange(currentTarget.value)}
  />
);

interface IconButtonProps {
  label: string;
  icon: typeof IconTrash;
  isDisabled: boolean;
  onClick: () => void;
}

const IconButton = ({ label, icon: Icon, isDisabled, onClick }: IconButtonProps) => (
  <ActionIcon variant="subtle" color="neutral" size="sm" aria-label={label} disabled={isDisabled} onClick={onClick}>
    <Icon size={14} />
  </ActionIcon>
);
