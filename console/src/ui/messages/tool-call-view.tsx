import { Badge, Group, Text } from "@mantine/core";
import { IconTool } from "@tabler/icons-react";

import { CopyButton } from "../copy-button.tsx";
import { LazyJson } from "../lazy-json.tsx";
import { Content } from "./content.tsx";
import type { Message, ToolCall } from "./message.ts";
import classes from "./messages.module.css";

/** Tool call with its arguments and, when available, its result. */
export function ToolCallView({ call, result }: { call: ToolCall; result?: Message | undefined }) {
  return (
    <section className={`${classes.call} copy-on-hover`} aria-label={`Tool call ${call.name}`}>
      <Group className={classes.callHead} gap={6} wrap="nowrap">
        <IconTool size={14} aria-hidden />
        <Text size="sm" fw={600} ff="monospace" style={{ overflowWrap: "anywhere" }}>
          {call.name}
        </Text>
        {result?.isError && (
          <Badge color="danger" variant="outline" size="xs">
            error
          </Badge>
        )}
        <Group ms="auto">
          <CopyButton
            isQuiet
            label={`Copy arguments of ${call.name}`}
            value={() => (typeof call.args === "string" ? call.args : JSON.stringify(call.args, null, 2))}
          />
        </Group>
      </Group>
      <div className={classes.callPart}>
        <Arguments args={call.args} name={call.name} />
        {call.error && (
          <Text size="xs" c="var(--heddle-danger)">
            {call.error}
          </Text>
        )}
      </div>
      {result && (
        <div className={classes.callPart}>
          <ToolResult message={result} />
        </div>
      )}
    </section>
  );
}

function Arguments({ args, name }: { args: unknown; name: string }) {
  if (typeof args === "string")
    return (
      <Text size="sm" ff="monospace">
        {args}
      </Text>
    );
  const entries = Object.entries((args ?? {}) as object);
  if (entries.length === 0)
    return (
      <Text size="xs" c="dimmed">
        no arguments
      </Text>
    );
  const isShort = entries.every(([, value]) => typeof value !== "object" && String(value).length < 80);
  if (!isShort) return <LazyJson value={args} label={`arguments of ${name}`} maxHeight="16rem" />;
  return (
    <>
      {entries.map(([key, value]) => (
        <Text key={key} size="sm" ff="monospace" style={{ overflowWrap: "anywhere" }}>
          <Text span inherit c="dimmed">
            {key}:
          </Text>{" "}
          {JSON.stringify(value)}
        </Text>
      ))}
    </>
  );
}

/** Shows a tool's result; JSON is rendered as JSON. */
export function ToolResult({ message }: { message: Message }) {
  const { content } = message;
  if (typeof content === "string" && /^\s*[[{]/.test(content)) {
    try {
      return <LazyJson value={JSON.parse(content)} label="tool result" maxHeight="16rem" />;
    } catch {
      // text that only starts like JSON
    }
  }
  return <Content content={content} isPlain />;
}
