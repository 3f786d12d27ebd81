import { ActionIcon, Button, Group, Stack, Text, Textarea, Tooltip } from "@mantine/core";
import { IconChevronLeft, IconChevronRight, IconPencil, IconRefresh } from "@tabler/icons-react";
import { type ReactNode, useEffect, useRef, useState } from "react";

import { type Message, messageText } from "../../ui/messages/message.ts";
import { MessageList } from "../../ui/messages/message-list.tsx";
import classes from "./playground.module.css";

/** Branches in which a message has alternatives. */
export interface Alternatives {
  now: string;
  all: string[];
}

interface ConversationProps {
  messages: Message[];
  /** Undefined: read-only. */
  getAlternatives?: (message: Message, index: number) => Alternatives | null;
  onBranch?: (branch: string) => void;
  /** Absent where the message's original state is not among the fetched ones. */
  canRedo?: (message: Message, index: number) => boolean;
  /** Duration, cost and feedback of a reply. */
  renderStatistics?: (message: Message, index: number) => ReactNode;
  onEdit?: (message: Message, index: number, text: string) => void;
  onRerun?: (message: Message, index: number) => void;
  isRunning: boolean;
  children?: ReactNode;
}

export function Conversation({ messages, isRunning, children, ...can }: ConversationProps) {
  const [edited, setEdited] = useState<{ index: number; text: string } | null>(null);
  const end = useScrollToEnd(messages, isRunning);
  const renderActions = (message: Message, index: number) => {
    const alternatives = isRunning ? null : can.getAlternatives?.(message, index);
    const canRedo = !isRunning && can.canRedo?.(message, index) === true;
    return (
      <>
        {message.role === "assistant" && !isRunning && can.renderStatistics?.(message, index)}
        {alternatives && <BranchSwitch {...alternatives} onBranch={can.onBranch} />}
        {canRedo && message.role === "user" && can.onEdit && (
          <Tool label="Edit and resend" onClick={() => setEdited({ index, text: firstText(message) })}>
            <IconPencil size={14} />
          </Tool>
        )}
        {canRedo && message.role === "assistant" && can.onRerun && (
          <Tool label="Rerun from here" onClick={() => can.onRerun!(message, index)}>
            <IconRefresh size={14} />
          </Tool>
        )}
      </>
    );
  };
  return (
    <div className={classes.talk} ref={end} tabIndex={0} role="log" aria-label="Conversation" aria-live="off">
      <div>
        {edited === null ? (
          <MessageList messages={messages} renderActions={renderActions} />
        ) : (
          <Stack gap="xs">
            <MessageList messages={messages.slice(0, edited.index)} />
            <EditMessage
              text={edited.text}
              onCancel={() => setEdited(null)}
              onSend={(text) => {
                can.onEdit!(messages[edited.index]!, edited.index, text);
                setEdited(null);
              }}
            />
          </Stack>
        )}
        {children}
      </div>
    </div>
  );
}

function EditMessage({
  text: first,
  onCancel,
  onSend,
}: {
  text: string;
  onCancel: () => void;
  onSend: (text: string) => void;
}) {
  const [text, setText] = useState(first);
  return (
    <form
      aria-label="Edit message"
      onSubmit={(event) => {
        event.preventDefault();
        onSend(text);
      }}
    >
      <Textarea
        label="Edited message"
        description="The current replies are kept in another branch."
        autosize
        data-autofocus
        autoFocus
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      <Group gap="xs" mt="xs">
        <Button type="submit" size="xs" disabled={text.trim() === ""}>
          Resend
        </Button>
        <Button size="xs" variant="default" onClick={onCancel}>
          Cancel
        </Button>
      </Group>
    </form>
  );
}

function BranchSwitch({ now, all, onBranch }: Alternatives & { onBranch?: ((branch: string) => void) | undefined }) {
  const at = all.indexOf(now);
  const go = (to: number) => all[to] !== undefined && onBranch?.(all[to]);
  return (
    <Group gap={0} wrap="nowrap" role="group" aria-label="Branches">
      <Tool label="Previous branch" isDisabled={at <= 0} onClick={() => go(at - 1)}>
        <IconChevronLeft size={14} />
      </Tool>
      <Text size="xs" className="numbers">
        {at + 1} / {all.length}
      </Text>
      <Tool label="Next branch" isDisabled={at >= all.length - 1} onClick={() => go(at + 1)}>
        <IconChevronRight size={14} />
      </Tool>
    </Group>
  );
}

/** The text that is edited; further ones are attached files. */
function firstText(message: Message): string {
  if (!Array.isArray(message.content)) return messageText(message);
  const [first] = message.content.filter((part) => (part as { type?: unknown } | null)?.type === "text");
  return messageText({ content: first === undefined ? [] : [first] });
}

interface ToolProps {
  label: string;
  onClick: () => void;
  isDisabled?: boolean;
  children: ReactNode;
}

function Tool({ label, onClick, isDisabled = false, children }: ToolProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="neutral" size="sm" aria-label={label} onClick={onClick} disabled={isDisabled}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

/** Scrolls with new messages, unless the reader has scrolled up. */
function useScrollToEnd(messages: Message[], isRunning: boolean) {
  const box = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const note = () => {
      follows.current = element.scrollHeight - element.scrollTop - element.clientHeight < 80;
    };
    element.addEventListener("scroll", note, { passive: true });
    return () => element.removeEventListener("scroll", note);
  }, []);
  useEffect(() => {
    if (follows.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [messages, isRunning]);
  return box;
}
