import { Badge, Code, Group, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

import { LazyJson } from "../../ui/lazy-json.tsx";
import { Content } from "../../ui/messages/content.tsx";
import { FewShotView } from "./few-shot-view.tsx";
import type { ContentPart, Prompt, PromptMessage } from "./manifest.ts";
import classes from "./prompts.module.css";
import { TemplateText } from "./template-text.tsx";

/** Content of a prompt as its messages; unknown types as JSON. */
export function PromptView({ prompt, manifest }: { prompt: Prompt; manifest: unknown }) {
  if (prompt.kind === "unknown") return <LazyJson value={manifest} label="manifest" />;
  return (
    <Stack gap="xs">
      {prompt.messages.map((message, index) => (
        <MessageBlock key={index} message={message} />
      ))}
      {prompt.schema !== null && (
        <section aria-label="Output schema">
          <Title order={2} size="h6" mb={4} mt="xs">
            Output schema
          </Title>
          <LazyJson value={prompt.schema} label="schema" />
        </section>
      )}
    </Stack>
  );
}

export const messageLabel = (message: PromptMessage): string => {
  if (message.kind === "template") return message.label;
  if (message.kind === "placeholder") return "Messages";
  return message.kind === "examples" ? "Examples" : "Message";
};

interface MessageFrameProps {
  label: string;
  role?: string;
  change?: "added" | "removed" | undefined;
  note?: ReactNode;
  children: ReactNode;
}

export function MessageFrame({ label, role = "other", change, note, children }: MessageFrameProps) {
  return (
    <article className={classes["message"]} data-role={role} data-change={change} aria-label={`${label} message`}>
      <Group gap={6} mb={2}>
        <Text size="xs" fw={600} c="dimmed">
          {label}
        </Text>
        {note}
      </Group>
      {children}
    </article>
  );
}

export function MessageBlock({ message }: { message: PromptMessage }) {
  const label = messageLabel(message);
  if (message.kind === "placeholder") {
    return (
      <MessageFrame label={label}>
        <Text size="sm">
          A list of messages, from the variable <span className={classes["variable"]}>{message.variable}</span>
          {message.isOptional && " (optional)"}
        </Text>
      </MessageFrame>
    );
  }
  if (message.kind === "examples") {
    return (
      <MessageFrame label={label}>
        <FewShotView
          fewShot={message.fewShot}
          renderMessage={(inner, index) => <MessageBlock key={index} message={inner} />}
        />
      </MessageFrame>
    );
  }
  return (
    <MessageFrame label={label} role={message.kind === "template" ? message.role : "other"}>
      {message.kind === "template" ? (
        <Stack gap="xs">
          {message.parts.map((part, index) => (
            <PartView key={index} part={part} />
          ))}
        </Stack>
      ) : (
        <LazyJson value={message.source} label="message" />
      )}
    </MessageFrame>
  );
}

function PartView({ part }: { part: ContentPart }) {
  if (part.kind === "text") return <TemplateText text={part.text} format={part.format} />;
  if (part.kind === "image") {
    return (
      <Group gap={6} align="flex-start">
        <Badge size="sm" variant="default">
          Image
        </Badge>
        <TemplateText text={part.url.slice(0, 500)} format={part.format} />
      </Group>
    );
  }
  return <Content content={part.value} isPlain />;
}

/** Variables of a prompt, with the values of those that are set in advance. */
export function Variables({ variables, partials }: Pick<Prompt, "variables" | "partials">) {
  const set = Object.entries(partials);
  if (variables.length === 0 && set.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        None
      </Text>
    );
  }
  return (
    <Stack gap={4}>
      <Group gap={6}>
        {variables.map((name) => (
          <span key={name} className={classes["variable"]}>
            {name}
          </span>
        ))}
      </Group>
      {set.map(([name, value]) => (
        <Text key={name} size="sm" style={{ overflowWrap: "anywhere" }}>
          <span className={classes["variable"]}>{name}</span> is set to{" "}
          <Code>{typeof value === "string" ? value : JSON.stringify(value)}</Code>
        </Text>
      ))}
    </Stack>
  );
}
