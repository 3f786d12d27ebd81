import {
  ActionIcon,
  Button,
  FileButton,
  Group,
  SegmentedControl,
  Select,
  Skeleton,
  Text,
  Textarea,
  Tooltip,
} from "@mantine/core";
import { IconPaperclip } from "@tabler/icons-react";
import { type ClipboardEvent, type DragEvent, type KeyboardEvent, lazy, Suspense, useState } from "react";

import { JsonField } from "../../ui/json-field.tsx";
import { readObject } from "../../ui/json-text.ts";
import { notifyFailure } from "../../ui/notify.ts";
import type { JsonSchema } from "../../ui/schema-form/schema.ts";
import { AttachedFiles } from "./attached-files.tsx";
import { type Attached, attachedPart, attachFile } from "./attachments.ts";
import { hasFields, humanMessage } from "./compose-input.ts";
import classes from "./playground.module.css";
import type { Strategy } from "./use-run.ts";

type Fields = Record<string, unknown>;
const SchemaForm = lazy(async () => ({ default: (await import("../../ui/schema-form/schema-form.tsx")).SchemaForm }));

interface ComposerProps {
  schema: JsonSchema;
  messagesKey: string | null;
  isRunning: boolean;
  /** Whether the thread waits for an answer: another input discards its question, so its form is closed at first. */
  isWaiting: boolean;
  strategy: Strategy;
  onStrategy: (strategy: Strategy) => void;
  onSend: (input: Fields, newMessages: Fields[]) => void;
  /** Without the choice of JSON and of what a second message does during a run. */
  isSimple?: boolean;
  /** Stops the active run; absent where another part of the page does. */
  onCancel?: () => void;
}

const STRATEGIES = [
  { value: "enqueue", label: "Enqueue: run after the current run" },
  { value: "reject", label: "Reject: reject input during a run" },
  { value: "interrupt", label: "Interrupt: stop the run, keep its steps" },
  { value: "rollback", label: "Roll back: stop the run, delete its steps" },
];

/** Height of a field with its label and the gap below it, to reserve the form's room. */
const FIELD_PX = 67;
const FIELD_GAP_PX = 10;

/** Editor for the next input: a message, a form of the graph's input, or JSON. */
export function Composer(props: ComposerProps) {
  const { schema, messagesKey, isRunning, isWaiting, strategy, onStrategy, onSend, isSimple = false, onCancel } = props;
  const hasForm = hasFields(schema, messagesKey);
  const fieldCount = Object.keys(schema.properties ?? {}).filter((name) => name !== messagesKey).length;
  const [mode, setMode] = useState<"fields" | "json">(messagesKey !== null || hasForm ? "fields" : "json");
  const [text, setText] = useState("");
  const [files, setFiles] = useState<Attached[]>([]);
  const [fields, setFields] = useState<Fields>({});
  const [json, setJson] = useState("");
  const [round, setRound] = useState(0);
  const [isOpen, setOpen] = useState(false);

  const hasMessage = text.trim() !== "" || files.length > 0;
  const send = () => {
    try {
      if (mode === "json") return onSend(readObject(json, "The input"), []);
    } catch (error) {
      return notifyFailure("Could not send the input")(error as Error);
    }
    const messages = messagesKey !== null && hasMessage ? [humanMessage(text, files.map(attachedPart))] : [];
    onSend({ ...fields, ...(messages.length > 0 && { [messagesKey!]: messages }) }, messages);
    setText("");
    setFiles([]);
    setOpen(false);
    setRound(round + 1);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (hasMessage) send();
  };
  const takesFiles = messagesKey !== null && mode === "fields";
  const attach = async (chosen: readonly File[]) => {
    const read = await Promise.all(chosen.map(attachFile)).catch(notifyFailure("Could not attach the file"));
    if (read) setFiles((before) => [...before, ...read]);
  };
  const takeFiles = (event: ClipboardEvent | DragEvent, data: DataTransfer | null) => {
    const chosen = [...(data?.files ?? [])];
    if (!takesFiles || chosen.length === 0) return;
    event.preventDefault();
    void attach(chosen);
  };
  if (isWaiting && !isOpen) {
    return (
      <Group className={classes.composer} gap="xs" role="group" aria-label="Input">
        <Text size="sm" c="dimmed">
          The run waits for the answer above.
        </Text>
        <Button size="compact-xs" variant="subtle" color="neutral" onClick={() => setOpen(true)}>
          Send another input instead
        </Button>
      </Group>
    );
  }
  const maySend = mode === "json" || messagesKey === null || hasMessage || hasForm;
  return (
    <form
      className={classes.composer}
      aria-label="Input"
      onPaste={(event) => takeFiles(event, event.clipboardData)}
      onDragOver={(event) => takesFiles && event.preventDefault()}
      onDrop={(event) => takeFiles(event, event.dataTransfer)}
      onSubmit={(event) => {
        event.preventDefault();
        if (maySend) send();
      }}
    >
      <div className={classes.composerForm}>
        {mode === "json" ? (
          <JsonField label="Input as JSON" value={json} onChange={setJson} placeholder={'{"messages": […]}'} />
        ) : (
          <>
            {hasForm && (
              <Suspense fallback={<Skeleton h={fieldCount * FIELD_PX - FIELD_GAP_PX} />}>
                <SchemaForm
                  key={round}
                  schema={schema}
                  value={fields}
                  onChange={setFields}
                  without={new Set(messagesKey === null ? [] : [messagesKey])}
                />
              </Suspense>
            )}
            {messagesKey !== null && (
              <Textarea
                mt={hasForm ? "xs" : 0}
                aria-label="Message"
                // a phone would open its keyboard over the conversation
                autoFocus={matchMedia("(hover: hover) and (min-width: 62em)").matches}
                placeholder="Message the assistant. Enter to send, Shift+Enter for a new line"
                autosize
                minRows={2}
                maxRows={10}
                value={text}
                onKeyDown={onKeyDown}
                onChange={({ currentTarget }) => setText(currentTarget.value)}
              />
            )}
            {files.length > 0 && (
              <AttachedFiles files={files} onRemove={(index) => setFiles(files.toSpliced(index, 1))} />
            )}
          </>
        )}
      </div>
      <Group gap="xs" mt="xs">
        {!isSimple && (
          <SegmentedControl
            size="xs"
            aria-label="Input format"
            data={[
              { value: "fields", label: messagesKey !== null && !hasForm ? "Message" : "Form" },
              { value: "json", label: "JSON" },
            ]}
            value={mode}
            onChange={(next) => setMode(next)}
          />
        )}
        {takesFiles && (
          <FileButton multiple onChange={(chosen) => void attach(chosen)} inputProps={{ "aria-label": "Files" }}>
            {(props) => (
              <Tooltip label="Attach files, also by dropping or pasting them">
                <ActionIcon {...props} variant="default" size="md" aria-label="Attach files">
                  <IconPaperclip size={16} />
                </ActionIcon>
              </Tooltip>
            )}
          </FileButton>
        )}
        <Group gap="xs" ms="auto" wrap="nowrap">
          {isRunning && onCancel && (
            <Button size="xs" color="danger" variant="outline" onClick={onCancel}>
              Cancel
            </Button>
          )}
          {isRunning && !isSimple && (
            <Select
              size="xs"
              w={210}
              aria-label="Multitask strategy"
              data={STRATEGIES}
              value={strategy}
              allowDeselect={false}
              onChange={(next) => next !== null && onStrategy(next as Strategy)}
            />
          )}
          {isWaiting && (
            <Button size="xs" variant="subtle" color="neutral" onClick={() => setOpen(false)}>
              Back to the question
            </Button>
          )}
          <Button type="submit" size="xs" variant={isWaiting ? "default" : "filled"} disabled={!maySend}>
            {isRunning ? "Send" : messagesKey !== null && !hasForm && mode === "fields" ? "Send" : "Run"}
          </Button>
        </Group>
      </Group>
    </form>
  );
}
