import { Stack } from "@mantine/core";
import { type ReactNode, useMemo } from "react";

import type { Message } from "./message.ts";
import { MessageView } from "./message-view.tsx";

/** Conversation. A tool's result is shown with its call, or separately if the call is missing. */
export function MessageList({
  messages,
  renderActions,
}: {
  messages: Message[];
  renderActions?: (message: Message, index: number) => ReactNode;
}) {
  const results = useMemo(() => resultsByCall(messages), [messages]);
  return (
    <Stack gap="xs">
      {messages.map((message, index) =>
        message.toolCallId !== undefined && results.get(message.toolCallId) === message ? null : (
          <MessageView
            key={message.id ?? index}
            message={message}
            results={results}
            actions={renderActions?.(message, index)}
          />
        ),
      )}
    </Stack>
  );
}

function resultsByCall(messages: Message[]): Map<string, Message> {
  const calls = new Set(messages.flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id)));
  const results = messages.filter(({ toolCallId }) => toolCallId !== undefined && calls.has(toolCallId));
  return new Map(results.map((message) => [message.toolCallId!, message]));
}
