import { ActionIcon, Badge, FileButton, Group, NativeSelect, Text, TextInput, Tooltip } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconPaperclip, IconTrash } from "@tabler/icons-react";
import { type ClipboardEvent, type DragEvent, type KeyboardEvent, useState } from "react";

import { LazyJson } from "../../ui/lazy-json.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { readDataUrl } from "../../ui/read-data-url.ts";
import { MessageContent } from "./message-content.tsx";
import classes from "./prompt-playground.module.css";
import { type DraftMessage, type Part, type Prompt, type Role } from "./prompt.ts";
import { className, kwargs } from "./read-manifest.ts";
import { escapeMessage, mediaBlock } from "./read-run.ts";
import { ToolCallsEditor } from "./tool-calls-editor.tsx";

/** Limit of one file; requests hold it in Base64. */
const MAX_FILE_BYTES = 10_000_000;

interface MessageCardProps {
  message: DraftMessage;
  index: number;
  prompt: Prompt;
  onChange: (change: Partial<DraftMessage>) => void;
  onMove: (by: -1 | 1) => void;
  onRemove: () => void;
  onAddBelow: () => void;
}

const ROLE_NAMES = [
  { value: "system", label: "System" },
  { value: "human", label: "User" },
  { value: "ai", label: "Assistant" },
  { value: "tool", label: "Tool result" },
  { value: "placeholder", label: "Placeholder" },
];

/** One message: its role, text, media and tool calls. */
export function MessageCard({ message, index, prompt, onChange, onMove, onRemove, onAddBelow }: MessageCardProps) {
  const [isOver, setOver] = useState(false);
  const { role } = message;
  const isString = prompt.kind === "string";
  const takesFiles = !isString && (role === "human" || role === "system" || role === "ai");
  const name = `message ${index + 1}`;
  const attach = async (files: readonly File[]) => {
    const blocks: Part[] = [];
    for (const file of files) {
      if (file.size > MAX_FILE_BYTES) throw new Error(`${file.name} is larger than ${MAX_FILE_BYTES / 1_000_000} MB.`);
      blocks.push(mediaBlock(await readDataUrl(file), file.name));
    }
    const { content } = message;
    const before = typeof content !== "string" ? content : content === "" ? [] : [{ type: "text", text: content }];
    onChange({ content: [...before, ...blocks] });
  };
  const take = (files: FileList | null | undefined, event: { preventDefault: () => void }) => {
    if (!takesFiles || !files || files.length === 0) return;
    event.preventDefault();
    void attach([...files]).catch(notifyFailure("Could not attach the file"));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!event.altKey || isString) return;
    if (event.key === "ArrowUp") onMove(-1);
    else if (event.key === "ArrowDown") onMove(1);
    else if (event.key === "Enter") onAddBelow();
    else if (event.key === "Delete" || event.key === "Backspace") onRemove();
    else return;
    event.preventDefault();
  };
  return (
    <div
      className={classes["message"]}
      role="group"
      aria-label={`Message ${index + 1}`}
      data-message={message.key}
      data-drop={isOver}
      onKeyDown={onKeyDown}
      onPaste={(event: ClipboardEvent) => take(event.clipboardData.files, event)}
      onDragOver={(event: DragEvent) => {
        if (!takesFiles) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event: DragEvent) => {
        setOver(false);
        take(event.dataTransfer.files, event);
      }}
    >
      {!isString && (
        <Group gap={4} className={classes["head"]} wrap="nowrap">
          <RoleSelect message={message} name={name} onChange={onChange} />
          <Group gap={0} ms="auto" wrap="nowrap">
            {!message.isTemplate && role !== "kept" && role !== "tool" && (
              <Tooltip label="Variables are not filled in. Click to use it as a template." multiline w={220}>
                <Badge
                  component="button"
                  size="sm"
                  variant="default"
                  me={4}
                  style={{ cursor: "pointer" }}
                  onClick={() => onChange(escapeMessage({ ...message, isTemplate: true }, prompt.format))}
                >
                  literal
                </Badge>
              </Tooltip>
            )}
            {takesFiles && (
              <FileButton
                multiple
                onChange={(files) => void attach(files).catch(notifyFailure("Could not attach the file"))}
                inputProps={{ "aria-label": `Files for ${name}` }}
              >
                {(props) => (
                  <Tooltip label="Attach images or files">
                    <ActionIcon {...props} variant="subtle" color="neutral" size="sm" aria-label={`Attach to ${name}`}>
                      <IconPaperclip size={14} />
                    </ActionIcon>
                  </Tooltip>
                )}
              </FileButton>
            )}
            <ActionIcon
              variant="subtle"
              color="neutral"
              size="sm"
              aria-label={`Move ${name} up`}
              disabled={index === 0}
              onClick={() => onMove(-1)}
            >
              <IconArrowUp size={14} />
            </ActionIcon>
            <ActionIcon
              variant="subtle"
              color="neutral"
              size="sm"
              aria-label={`Move ${name} down`}
              disabled={index === prompt.messages.length - 1}
              onClick={() => onMove(1)}
            >
              <IconArrowDown size={14} />
            </ActionIcon>
            <ActionIcon variant="subtle" color="neutral" size="sm" aria-label={`Remove ${name}`} onClick={onRemove}>
              <IconTrash size={14} />
            </ActionIcon>
          </Group>
        </Group>
      )}
      <div className={classes["body"]}>
        {role === "kept" ? (
          <KeptPart message={message} />
        ) : role === "placeholder" ? (
          <TextInput
            size="xs"
            label="Variable"
            description="Its messages are inserted here."
            value={message.name}
            onChange={({ currentTarget }) => onChange({ name: currentTarget.value })}
          />
        ) : (
          <MessageContent message={message} name={name} format={prompt.format} onChange={onChange} />
        )}
        {role === "tool" && (
          <TextInput
            size="xs"
            mt={4}
            label="Tool call ID"
            placeholder="call_1"
            value={message.toolCallId}
            onChange={({ currentTarget }) => onChange({ toolCallId: currentTarget.value })}
          />
        )}
        {role === "ai" && (
          <ToolCallsEditor
            calls={message.toolCalls}
            onChange={(toolCalls) => onChange({ toolCalls, ...(toolCalls.length > 0 && { isTemplate: false }) })}
          />
        )}
      </div>
    </div>
  );
}

function RoleSelect({ message, name, onChange }: Pick<MessageCardProps, "message" | "onChange"> & { name: string }) {
  const { role } = message;
  if (role === "kept") {
    return (
      <Text size="sm" fw={500}>
        {className(message.node).includes("FewShot") ? "Few-shot examples" : className(message.node) || "Message"}
      </Text>
    );
  }
  const change = (next: Role) =>
    onChange({
      role: next,
      name: next === "placeholder" ? "messages" : "",
      isTemplate: next === "tool" ? false : role === "tool" ? true : message.isTemplate,
      ...(next !== "ai" && { toolCalls: [] }),
    });
  return (
    <NativeSelect
      size="xs"
      variant="unstyled"
      fw={500}
      aria-label={`Role of ${name}`}
      data={role === "chat" ? [...ROLE_NAMES, { value: "chat", label: message.name || "Other" }] : ROLE_NAMES}
      value={role}
      onChange={({ currentTarget }) => change(currentTarget.value as Role)}
    />
  );
}

function KeptPart({ message: { node } }: { message: DraftMessage }) {
  const { examples } = kwargs(node);
  return (
    <>
      <Text size="xs" c="dimmed" mb={4}>
        {Array.isArray(examples) ? `${examples.length} examples. ` : ""}Kept as it is in the prompt.
      </Text>
      <LazyJson value={examples ?? node} label="content" />
    </>
  );
}
