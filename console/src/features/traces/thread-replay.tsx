import { Box, Button, Group, Stack, Text, UnstyledButton } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { IconArrowLeft, IconChevronLeft, IconChevronRight } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import { duration, money, tokens } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { messageText } from "../../ui/messages/message.ts";
import { MessageList } from "../../ui/messages/message-list.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { runLatency, utc } from "../runs/run-record.ts";
import type { RunSearch } from "../runs/run-search.ts";
import { StatusDot } from "../runs/status-dot.tsx";
import { type Turn, turnsQuery } from "./queries.ts";
import { RunError } from "./run-error.tsx";
import { RunValue } from "./run-value.tsx";
import classes from "./thread-replay.module.css";
import { turnMessages } from "./turn-messages.ts";

interface ThreadReplayProps {
  projectId: string;
  search: RunSearch;
  onChange: (changes: Partial<RunSearch>) => void;
}

/** Conversation of a thread, up to the selected turn. */
export function ThreadReplay({ projectId, search, onChange }: ThreadReplayProps) {
  const { thread } = search;
  const { data: turns, error, refetch } = useQuery(turnsQuery(projectId, thread));
  const count = turns?.length ?? 0;
  // without a turn in the URL, the whole conversation is shown
  const shown = search.turn >= 1 ? Math.min(search.turn, count) : count;
  const go = (turn: number) => onChange({ turn: Math.max(1, Math.min(count, turn)) });
  useHotkeys([
    ["ArrowLeft", () => go(shown - 1)],
    ["ArrowRight", () => go(shown + 1)],
  ]);
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // it returns a promise in newer browsers, which an effect must not
    end.current?.lastElementChild?.scrollIntoView({ block: "nearest" });
  }, [shown]);
  if (!turns) return <LoadState query={{ error, refetch }} rows={12} />;
  return (
    <Stack gap="sm" mt="sm">
      <Group gap="xs">
        <Button
          size="xs"
          variant="subtle"
          leftSection={<IconArrowLeft size={14} aria-hidden />}
          onClick={() => onChange({ thread: "", turn: 0 })}
        >
          All threads
        </Button>
        <Text size="sm" fw={600} style={{ overflowWrap: "anywhere" }}>
          {thread}
        </Text>
        <Button
          size="xs"
          variant="default"
          ms="auto"
          onClick={() =>
            onChange({
              tab: "traces",
              thread: "",
              turn: 0,
              filter: `eq(thread_id, ${JSON.stringify(thread)})`,
              desc: false,
            })
          }
        >
          Show as traces
        </Button>
        <Group gap={4} wrap="nowrap" role="group" aria-label="Turns">
          <Button
            size="xs"
            variant="default"
            aria-label="Previous turn"
            disabled={shown <= 1}
            onClick={() => go(shown - 1)}
          >
            <IconChevronLeft size={14} />
          </Button>
          <Text size="sm" className="numbers" role="status">
            Turn {shown} of {count}
          </Text>
          <Button
            size="xs"
            variant="default"
            aria-label="Next turn"
            disabled={shown >= count}
            onClick={() => go(shown + 1)}
          >
            <IconChevronRight size={14} />
          </Button>
        </Group>
      </Group>
      <div className={classes["columns"]}>
        <ol className={classes["turns"]} aria-label="Turns of the thread">
          {turns.map((turn, index) => (
            <li key={turn.id}>
              <UnstyledButton
                className={classes["turn"]}
                aria-current={index + 1 === shown || undefined}
                data-later={index + 1 > shown || undefined}
                onClick={() => go(index + 1)}
              >
                <Group gap={6} wrap="nowrap">
                  <StatusDot status={turn.status} />
                  <Text size="sm" truncate>
                    {index + 1}. {title(turn)}
                  </Text>
                </Group>
                <Text size="xs" c="dimmed" className="numbers">
                  {duration(runLatency(turn))} · {tokens(turn.total_tokens)} tokens · {money(turn.total_cost)}
                </Text>
              </UnstyledButton>
            </li>
          ))}
        </ol>
        <div className={classes["talk"]} ref={end} role="log" aria-label="Conversation" tabIndex={0}>
          {turns.slice(0, shown).map((turn, index) => (
            <TurnView key={turn.id} turn={turn} number={index + 1} projectId={projectId} />
          ))}
        </div>
      </div>
    </Stack>
  );
}

function title({ inputs, outputs, name }: Turn): string {
  const [question] = turnMessages(inputs, outputs) ?? [];
  return (question && messageText(question)) || name || "Unnamed";
}

function TurnView({ turn, number, projectId }: { turn: Turn; number: number; projectId: string }) {
  const messages = turnMessages(turn.inputs, turn.outputs);
  return (
    <section aria-label={`Turn ${number}`} style={{ marginBottom: "var(--mantine-spacing-md)" }}>
      <Group gap="xs" mb={4}>
        <Text size="xs" c="dimmed" fw={600}>
          Turn {number}
        </Text>
        <TimeText at={utc(turn.start_time)} size="xs" c="dimmed" />
        <AnchorLink to="/projects/$projectId/r/$runId" params={{ projectId, runId: turn.id }} size="xs">
          Trace
        </AnchorLink>
      </Group>
      {messages ? (
        <MessageList messages={messages} />
      ) : (
        <Stack gap="xs">
          <RunValue title="Input" value={turn.inputs} />
          <RunValue title="Output" value={turn.outputs} />
        </Stack>
      )}
      {turn.error != null && (
        <Box mt="xs">
          <RunError error={turn.error} status={turn.status} />
        </Box>
      )}
    </section>
  );
}
