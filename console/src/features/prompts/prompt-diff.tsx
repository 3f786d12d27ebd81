import { Stack, Text, Title } from "@mantine/core";
import { useMemo } from "react";

import { DiffView } from "../../ui/diff-view.tsx";
import { isSame } from "../../ui/json-diff.ts";
import { WordDiff } from "../../ui/word-diff.tsx";
import { alignMessages, type MessagePair } from "./align-messages.ts";
import { messageText, type PromptMessage, readPrompt } from "./manifest.ts";
import { MessageBlock, MessageFrame, messageLabel } from "./prompt-view.tsx";

interface PromptDiffProps {
  before: unknown;
  after: unknown;
  /** Names of the two commits. */
  names: [string, string];
}

/** Differences between two manifests: messages by words, schema, model and examples by their members. */
export function PromptDiff({ before, after, names }: PromptDiffProps) {
  const [a, b] = useMemo(() => [readPrompt(before), readPrompt(after)], [before, after]);
  const pairs = useMemo(() => alignMessages(a.messages, b.messages), [a, b]);
  if (isSame(before, after)) return <Same>The two commits have the same content.</Same>;
  if (a.kind === "unknown" || b.kind === "unknown") return <DiffView before={before} after={after} names={names} />;
  const changed = pairs.filter((pair) => !isUnchanged(pair));
  const rest: [title: string, before: unknown, after: unknown][] = [
    ["Output schema", a.schema, b.schema],
    ["Model", a.model, b.model],
    ["Values set in advance", a.partials, b.partials],
  ];
  const others = rest.filter(([, x, y]) => !isSame(x, y));
  return (
    <Stack gap="xs">
      {a.kind !== b.kind && (
        <Text size="sm">
          The type changed from {a.kind} to {b.kind}.
        </Text>
      )}
      {changed.length === 0 && <Same>The messages are the same.</Same>}
      {changed.length > 0 && pairs.map((pair, index) => <PairView key={index} pair={pair} names={names} />)}
      {others.map(([title, x, y]) => (
        <section key={title} aria-label={title}>
          <Title order={3} size="h6" mt="xs" mb={4}>
            {title}
          </Title>
          <DiffView before={x} after={y} names={names} />
        </section>
      ))}
      {changed.length === 0 && others.length === 0 && <DiffView before={before} after={after} names={names} />}
    </Stack>
  );
}

const Same = ({ children }: { children: string }) => (
  <Text size="sm" c="dimmed">
    {children}
  </Text>
);

const isUnchanged = ({ before, after }: MessagePair): boolean =>
  before !== null && after !== null && isSame(before.source, after.source);

function PairView({ pair: { before, after }, names }: { pair: MessagePair; names: [string, string] }) {
  if (before === null || after === null) {
    const message = (before ?? after)!;
    const change = before === null ? "added" : "removed";
    return (
      <MessageFrame label={messageLabel(message)} change={change} note={<Note>{change}</Note>}>
        <WordDiff
          before={before === null ? "" : messageText(before)}
          after={after === null ? "" : messageText(after)}
        />
      </MessageFrame>
    );
  }
  if (isSame(before.source, after.source)) return <MessageBlock message={after} />;
  return (
    <MessageFrame label={messageLabel(after)} role={roleName(after)} note={<Note>changed</Note>}>
      {before.kind === "examples" && after.kind === "examples" ? (
        <DiffView before={before.fewShot} after={after.fewShot} names={names} />
      ) : messageText(before) === messageText(after) ? (
        <DiffView before={before.source} after={after.source} names={names} />
      ) : (
        <WordDiff
          before={messageText(before)}
          after={messageText(after)}
          label={`Changes from ${names[0]} to ${names[1]}`}
        />
      )}
    </MessageFrame>
  );
}

const roleName = (message: PromptMessage): string => (message.kind === "template" ? message.role : "other");

const Note = ({ children }: { children: string }) => (
  <Text size="xs" c="dimmed">
    {children}
  </Text>
);
