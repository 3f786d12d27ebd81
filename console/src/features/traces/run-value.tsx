import { Box, Group, SegmentedControl, Text, Title } from "@mantine/core";
import { useMemo, useState } from "react";

import { CopyButton } from "../../ui/copy-button.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { Content } from "../../ui/messages/content.tsx";
import { MessageList } from "../../ui/messages/message-list.tsx";
import { FieldList } from "./field-list.tsx";
import { besidesMessages, findMessages, onlyText, textEntries, textFields } from "./find-messages.ts";

/** Limit on rendered messages; longer conversations are shown as JSON until requested. */
const MESSAGE_LIMIT = 200;

/** Inputs or outputs: a conversation as messages, text as text, an object with texts by field, anything else as JSON. */
export function RunValue({ title, value }: { title: string; value: unknown }) {
  const messages = useMemo(() => findMessages(value), [value]);
  const text = useMemo(() => (messages ? null : onlyText(value)), [messages, value]);
  const fields = useMemo(() => (messages || text !== null ? null : textFields(value)), [messages, text, value]);
  const entries = useMemo(() => (messages ? null : textEntries(value)), [messages, value]);
  const rest = useMemo(() => (messages ? besidesMessages(value) : null), [messages, value]);
  const isReadable = entries !== null || messages !== null || text !== null || fields !== null;
  const [mode, setMode] = useState<"readable" | "json">("readable");
  const [isWhole, setWhole] = useState(false);
  const isEmpty = value == null || (typeof value === "object" && Object.keys(value).length === 0);
  const shown = isWhole ? messages : messages?.slice(-MESSAGE_LIMIT);
  return (
    <section aria-label={title}>
      <Group justify="space-between" mb={4} mih={26}>
        <Title order={2} size="h6">
          {title}
        </Title>
        <Group gap={4} wrap="nowrap">
          {isReadable && (
            <SegmentedControl
              size="xs"
              aria-label={`Format of ${title.toLowerCase()}`}
              value={mode}
              onChange={(next) => setMode(next as "readable" | "json")}
              data={[
                { value: "readable", label: messages ? "Messages" : "Text" },
                { value: "json", label: "JSON" },
              ]}
            />
          )}
          {!isEmpty && (
            <CopyButton
              label={`Copy ${title.toLowerCase()}`}
              value={() => (text !== null && mode === "readable" ? text : JSON.stringify(value, null, 2))}
            />
          )}
        </Group>
      </Group>
      {isEmpty ? (
        <Text size="sm" c="dimmed">
          Empty
        </Text>
      ) : !isReadable || mode === "json" ? (
        <JsonView key={title} value={value} label={title.toLowerCase()} />
      ) : messages ? (
        <>
          {shown!.length < messages.length && (
            <Text size="xs" mb={4}>
              Last {MESSAGE_LIMIT} of {messages.length} messages.{" "}
              <Text component="button" type="button" span inherit td="underline" onClick={() => setWhole(true)}>
                Show all
              </Text>
            </Text>
          )}
          <MessageList messages={shown!} />
          {rest && (
            <Box mt="sm">
              <FieldList fields={rest} />
            </Box>
          )}
        </>
      ) : fields ? (
        <FieldList fields={fields} />
      ) : entries ? (
        <FieldList fields={entries.map((entry, index) => [String(index + 1), Object.fromEntries(entry)])} />
      ) : (
        <Content content={text} />
      )}
    </section>
  );
}
