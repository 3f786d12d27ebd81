import { Fieldset, Stack, Text, Textarea } from "@mantine/core";

import { asMessages } from "../../ui/messages/message.ts";
import { SchemaForm } from "../../ui/schema-form/schema-form.tsx";
import type { JsonSchema } from "../../ui/schema-form/schema.ts";

type Fields = Record<string, unknown>;

interface StateFieldsProps {
  schema: JsonSchema;
  value: Fields;
  onChange: (value: Fields) => void;
}

/** Form of a graph's state: conversations as their texts, other members by their schema. */
export function StateFields({ schema, value, onChange }: StateFieldsProps) {
  const conversations = Object.keys(schema.properties ?? {}).filter((name) => asMessages(value[name]) !== null);
  return (
    <Stack gap="sm">
      {conversations.map((name) => (
        <MessageTexts
          key={name}
          name={schema.properties?.[name]?.title ?? name}
          messages={value[name] as unknown[]}
          onChange={(messages) => onChange({ ...value, [name]: messages })}
        />
      ))}
      <SchemaForm schema={schema} value={value} onChange={onChange} without={new Set(conversations)} />
    </Stack>
  );
}

interface MessageTextsProps {
  name: string;
  messages: unknown[];
  onChange: (messages: unknown[]) => void;
}

/** The texts of a conversation; a message of other parts is edited as JSON. */
function MessageTexts({ name, messages, onChange }: MessageTextsProps) {
  const read = asMessages(messages) ?? [];
  const isEditable = (message: unknown) => typeof (message as Fields)["content"] === "string";
  return (
    <Fieldset legend={name} p="xs">
      <Stack gap="xs">
        {messages.map((message, index) =>
          isEditable(message) ? (
            <Textarea
              key={index}
              label={`${index + 1}. ${read[index]?.role ?? "message"}`}
              autosize
              minRows={1}
              maxRows={8}
              value={(message as Fields)["content"] as string}
              onChange={({ currentTarget: { value: content } }) =>
                onChange(messages.with(index, { ...(message as Fields), content }))
              }
            />
          ) : (
            <Text key={index} size="xs" c="dimmed">
              {index + 1}. {read[index]?.role ?? "message"}: more than text, which can be edited as JSON
            </Text>
          ),
        )}
      </Stack>
    </Fieldset>
  );
}
