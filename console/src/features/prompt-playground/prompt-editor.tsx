import { Button, Group, Menu, SegmentedControl, Stack, Tabs, Text, Title } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { type Dispatch, useCallback, useRef } from "react";

import { LazyJson } from "../../ui/lazy-json.tsx";
import { TabList } from "../../ui/tab-list.tsx";
import { type Draft, type DraftAction, letter } from "./draft.ts";
import { MessageCard } from "./message-card.tsx";
import { newMessage, type Prompt, type Role } from "./prompt.ts";
import { SchemaEditor } from "./schema-editor.tsx";
import { TEMPLATE_FORMATS, type TemplateFormat } from "./template.ts";
import { ToolsEditor } from "./tools-editor.tsx";

interface PromptEditorProps {
  draft: Draft;
  prompt: Prompt;
  dispatch: Dispatch<DraftAction>;
}

const ADDED: { role: Role; label: string }[] = [
  { role: "system", label: "System" },
  { role: "human", label: "User" },
  { role: "ai", label: "Assistant" },
  { role: "tool", label: "Tool result" },
  { role: "placeholder", label: "Placeholder for messages" },
];

/** Editor of the active prompt: messages, tools and output schema. */
export function PromptEditor({ draft, prompt, dispatch }: PromptEditorProps) {
  const list = useRef<HTMLDivElement>(null);
  const focus = useCallback((key: string) => {
    // after the list has been rendered: a moved element loses the focus
    setTimeout(() => list.current?.querySelector<HTMLElement>(`[data-message="${key}"] textarea`)?.focus());
  }, []);
  const add = (role: Role, after?: string) => {
    const message = newMessage(role);
    dispatch({ type: "add-message", message, after });
    focus(message.key);
  };
  return (
    <section aria-label="Prompt">
      {draft.prompts.length > 1 && (
        <Tabs
          value={draft.activeKey}
          onChange={(key) => key !== null && dispatch({ type: "activate", promptKey: key })}
          mb="xs"
        >
          <TabList>
            {draft.prompts.map(({ key }) => (
              <Tabs.Tab key={key} value={key}>
                Prompt of {columnLetters(draft, key)}
              </Tabs.Tab>
            ))}
          </TabList>
        </Tabs>
      )}
      <Group justify="space-between" mb={6} mih={30}>
        <Title order={2} size="h6">
          {prompt.kind === "string" ? "Template" : "Messages"}
        </Title>
        {prompt.kind !== "kept" && (
          <SegmentedControl
            size="xs"
            aria-label="Template format"
            data={TEMPLATE_FORMATS.map((value) => ({
              value,
              label: value === "f-string" ? "f-string {x}" : "mustache {{x}}",
            }))}
            value={prompt.format}
            onChange={(format) => dispatch({ type: "format", format: format as TemplateFormat })}
          />
        )}
      </Group>
      {prompt.kind === "kept" ? (
        <>
          <Text size="sm" c="dimmed" mb="xs">
            This prompt has no editor. It can be run with values for its variables.
          </Text>
          <LazyJson value={prompt.source} label="manifest" />
        </>
      ) : (
        <Stack gap="xs" ref={list}>
          {prompt.messages.map((message, index) => (
            <MessageCard
              key={message.key}
              message={message}
              index={index}
              prompt={prompt}
              onChange={(change) => dispatch({ type: "message", key: message.key, change })}
              onMove={(by) => {
                dispatch({ type: "move-message", key: message.key, by });
                focus(message.key);
              }}
              onRemove={() => {
                dispatch({ type: "remove-message", key: message.key });
                const next = prompt.messages[index + 1] ?? prompt.messages[index - 1];
                if (next) focus(next.key);
              }}
              onAddBelow={() => add(message.role === "human" ? "ai" : "human", message.key)}
            />
          ))}
        </Stack>
      )}
      {prompt.kind === "chat" && (
        <Group gap="xs" mt="xs">
          <Menu position="bottom-start">
            <Menu.Target>
              <Button size="compact-sm" variant="default" leftSection={<IconPlus size={14} aria-hidden />}>
                Add message
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              {ADDED.map(({ role, label }) => (
                <Menu.Item key={role} onClick={() => add(role)}>
                  {label}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
        </Group>
      )}
      <ToolsEditor prompt={prompt} onChange={(change) => dispatch({ type: "prompt", change })} />
      {prompt.kind === "chat" && (
        <SchemaEditor value={prompt.schema} onChange={(schema) => dispatch({ type: "prompt", change: { schema } })} />
      )}
    </section>
  );
}

const columnLetters = ({ columns }: Draft, promptKey: string): string =>
  columns.flatMap((column, index) => (column.promptKey === promptKey ? [letter(index)] : [])).join(", ");
