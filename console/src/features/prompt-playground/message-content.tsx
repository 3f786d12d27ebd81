import { CloseButton, Group, Text, Textarea } from "@mantine/core";

import { Content } from "../../ui/messages/content.tsx";
import { readMedia } from "../../ui/messages/media.ts";
import classes from "./prompt-playground.module.css";
import { type DraftMessage, type Part } from "./prompt.ts";
import { templateProblem, type TemplateFormat } from "./template.ts";

interface MessageContentProps {
  message: DraftMessage;
  name: string;
  format: TemplateFormat;
  onChange: (change: Partial<DraftMessage>) => void;
}

const isText = (part: Part): part is { type: "text"; text: string } =>
  part["type"] === "text" && typeof part["text"] === "string";

/** Text of a message, or its content blocks: each text in a field, images and files as they look. */
export function MessageContent({ message, name, format, onChange }: MessageContentProps) {
  const { content, isTemplate } = message;
  const problem = (text: string) => (isTemplate ? templateProblem(text, format) : null);
  if (typeof content === "string") {
    return (
      <TextField
        label={`Text of ${name}`}
        value={content}
        problem={problem(content)}
        onChange={(text) => onChange({ content: text })}
      />
    );
  }
  const replace = (index: number, part: Part) => onChange({ content: content.with(index, part) });
  const remove = (index: number) => {
    const rest = content.toSpliced(index, 1);
    const [only] = rest;
    // one text is text again, as it was before the file was attached
    if (rest.length === 0) return onChange({ content: "" });
    onChange({ content: rest.length === 1 && only && isText(only) ? only.text : rest });
  };
  const hasText = content.some(isText);
  return (
    <>
      {!hasText && (
        <TextField
          label={`Text of ${name}`}
          value=""
          problem={null}
          onChange={(text) => onChange({ content: [{ type: "text", text }, ...content] })}
        />
      )}
      {content.map((part, index) =>
        isText(part) ? (
          <TextField
            key={index}
            label={`Text of ${name}${index > 0 ? `, part ${index + 1}` : ""}`}
            value={part.text}
            problem={problem(part.text)}
            onChange={(text) => replace(index, { ...part, text })}
          />
        ) : (
          <Group key={index} gap={4} mt={4} wrap="nowrap" align="flex-start">
            <Media part={part} />
            <CloseButton size="sm" aria-label={`Remove part ${index + 1} of ${name}`} onClick={() => remove(index)} />
          </Group>
        ),
      )}
    </>
  );
}

function Media({ part }: { part: Part }) {
  const media = readMedia(part);
  if (media && media.url.startsWith("data:image/")) {
    return <img className={classes["media"]} src={media.url} alt={media.name} />;
  }
  return (
    <div style={{ flex: 1, minWidth: 0 }}>
      <Content content={[part]} />
      {media && /\{/.test(media.url) && (
        <Text size="xs" c="dimmed">
          The address comes from a variable.
        </Text>
      )}
    </div>
  );
}

interface TextFieldProps {
  label: string;
  value: string;
  problem: string | null;
  onChange: (text: string) => void;
}

function TextField({ label, value, problem, onChange }: TextFieldProps) {
  return (
    <Textarea
      aria-label={label}
      autosize
      minRows={2}
      maxRows={20}
      mt={2}
      value={value}
      error={problem}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
