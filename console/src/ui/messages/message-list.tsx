import { Stack } from "@mantine/core";
import { type ReactNode, useMemo } from "react";

import type { Message } from "./message.ts";
import { MessageView } from "./message-view.tsx";

/** Conversation. A tool's result is shown with its call, and separately only where the call is missing. */
export function MessageList({
  messages,
  renderActions,
}: {
  messages: Message[];
  renderActions?: (message: Message, index: number) => ReactNode;
}) {
  const results = useMemo(() => answersByCall(messages), [messages]);
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

function answersByCall(messages: Message[]): Map<string, Message> {
  const calls = new Set(messages.flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id)));
  const answers = messages.filter(({ toolCallId }) => toolCallId !== undefined && calls.has(toolCallId));
  return new Map(answers.map((message) => [message.toolCallId!, message]));
}
