import { Group, Stack, Text } from "@mantine/core";
import { useMemo } from "react";

import classes from "./diff-view.module.css";
import { type Difference, diffJson, formatPath, isIncidental } from "./json-diff.ts";
import { RoleBadge } from "./status-badge.tsx";
import { WordDiff } from "./word-diff.tsx";

const MARKS = { added: "+ added", removed: "− removed", changed: "≠ changed" };
const ROLES = { added: "success", removed: "danger", changed: "warning" } as const;
/** Number of rendered differences; the total is shown. */
const SHOWN = 300;
const SHORT = 4000;

interface DiffViewProps {
  before: unknown;
  after: unknown;
  /** Names of the two values. */
  names?: [string, string];
}

/** Differences between two JSON values, a block per member. */
export function DiffView({ before, after, names = ["before", "after"] }: DiffViewProps) {
  const differences = useMemo(() => diffJson(before, after), [before, after]);
  if (differences.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        No differences
      </Text>
    );
  }
  const contents = differences.filter((difference) => !isIncidental(difference));
  const incidental = differences.slice(contents.length);
  const renderRow = (difference: Difference) => (
    <DifferenceRow key={difference.kind + formatPath(difference.path)} difference={difference} names={names} />
  );
  return (
    <Stack gap="xs">
      {contents.slice(0, SHOWN).map(renderRow)}
      {contents.length === 0 && (
        <Text size="sm" c="dimmed">
          The contents are the same.
        </Text>
      )}
      {incidental.length > 0 && contents.length < SHOWN && (
        <details>
          <summary className={classes.summary}>
            {incidental.length === 1 ? "1 difference" : `${incidental.length} differences`} in ids, usage and metadata
          </summary>
          <Stack gap="xs" mt="xs">
            {incidental.slice(0, SHOWN - contents.length).map(renderRow)}
          </Stack>
        </details>
      )}
      {differences.length > SHOWN && (
        <Text size="sm" c="dimmed">
          {differences.length - SHOWN} more differences not shown
        </Text>
      )}
    </Stack>
  );
}

function DifferenceRow({ difference, names }: { difference: Difference; names: [string, string] }) {
  return (
    <div>
      <Group gap="xs" mb={2} wrap="nowrap">
        <RoleBadge role={ROLES[difference.kind]}>{MARKS[difference.kind]}</RoleBadge>
        <Text size="sm" ff="monospace" style={{ overflowWrap: "anywhere" }}>
          {formatPath(difference.path)}
        </Text>
      </Group>
      {isText(difference) ? (
        <div className={classes.words} tabIndex={0} role="region" aria-label={`${names[0]} and ${names[1]}`}>
          <WordDiff before={difference.before as string} after={difference.after as string} />
        </div>
      ) : (
        <div className={classes.sides} data-kind={difference.kind}>
          {difference.kind !== "added" && <Side sign="−" name={names[0]} value={difference.before} />}
          {difference.kind !== "removed" && <Side sign="+" name={names[1]} value={difference.after} />}
        </div>
      )}
    </div>
  );
}

/** Whether both values are texts of several words, of which most may be the same. */
const isText = ({ kind, before, after }: Difference): boolean =>
  kind === "changed" && [before, after].every((value) => typeof value === "string" && /\S\s+\S/.test(value));

function Side({ sign, name, value }: { sign: "+" | "−"; name: string; value: unknown }) {
  const text = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "null");
  return (
    <pre className={classes.side} data-sign={sign} aria-label={name} tabIndex={0}>
      {text.length > SHORT ? `${text.slice(0, SHORT)}…` : text}
    </pre>
  );
}
