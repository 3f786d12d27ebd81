import { Group, Stack, Text } from "@mantine/core";
import { memo, type ReactNode } from "react";

import { CopyButton } from "../copy-button.tsx";
import { Content, Reasoning } from "./content.tsx";
import { type Message, messageText } from "./message.ts";
import classes from "./messages.module.css";
import { ToolCallView, ToolResult } from "./tool-call-view.tsx";

const NAMES: Record<Message["role"], string> = {
  user: "User",
  assistant: "Assistant",
  system: "System",
  tool: "Tool",
  other: "",
};

interface MessageViewProps {
  message: Message;
  /** Results of tools, by the id of their call. */
  results?: ReadonlyMap<string, Message>;
  /** Buttons beside the name. */
  actions?: ReactNode;
}

export const MessageView = memo(function MessageView({ message, results, actions }: MessageViewProps) {
  const { role, type, name, content, toolCalls, reasoning, usage } = message;
  const title = NAMES[role] || type;
  return (
    <article
      className={`${classes.message} copy-on-hover`}
      data-role={role}
      aria-label={name ? `${title} ${name}` : title}
    >
      <Group gap={6} mih={22} mb={2} wrap="nowrap">
        <Text size="xs" fw={600} c="dimmed">
          {title}
        </Text>
        {name && (
          <Text size="xs" c="dimmed" ff="monospace" truncate>
            {name}
          </Text>
        )}
        {usage?.total_tokens !== undefined && (
          <Text size="xs" c="dimmed" className="numbers" title={`${usage.total_tokens} tokens`}>
            {usage.input_tokens ?? 0} tokens in · {usage.output_tokens ?? 0} out
          </Text>
        )}
        <Group gap={2} ms="auto" wrap="nowrap">
          {actions}
          <CopyButton
            isQuiet
            label="Copy message"
            value={() => messageText(message) || JSON.stringify(message.raw, null, 2)}
          />
        </Group>
      </Group>
      <Stack gap="xs">
        {reasoning !== undefined && <Reasoning text={reasoning} />}
        {role === "tool" ? <ToolResult message={message} /> : <Content content={content} isPlain={role === "user"} />}
        {toolCalls.map((call, index) => (
          <ToolCallView key={call.id ?? index} call={call} result={results?.get(call.id ?? "")} />
        ))}
      </Stack>
    </article>
  );
});
