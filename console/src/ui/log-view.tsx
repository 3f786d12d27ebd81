import { Button, Group, Paper, Select, Switch, Text, TextInput } from "@mantine/core";
import { IconArrowDown, IconSearch } from "@tabler/icons-react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef, useState } from "react";

import classes from "./log-view.module.css";
import { NextPage, type Pages } from "./next-page.tsx";

export interface LogLine {
  id: string;
  /** Milliseconds since 1970. */
  timestamp: number;
  level: string;
  message: string;
}

export interface LogFilter {
  query: string;
  /** Lowest level that is shown; empty for all. */
  level: string;
}

interface LogViewProps {
  /** Label for screen readers: `Build log`. */
  label: string;
  /** Oldest first, already filtered, by the server. */
  lines: LogLine[];
  filter: LogFilter;
  onFilter: (filter: LogFilter) => void;
  /** Whether more lines may arrive: the view then follows the end until the reader scrolls up. */
  isLive: boolean;
  /** Further pages, of older lines. */
  pages?: Pages;
  /** Shown while there are no lines. */
  empty?: ReactNode;
  height?: number | string;
}

const LEVELS = [
  { value: "", label: "All levels" },
  { value: "INFO", label: "Info and above" },
  { value: "WARNING", label: "Warnings and errors" },
  { value: "ERROR", label: "Errors" },
];
const LINE_HEIGHT = 20;

/** Log of any length: only visible lines are in the document. */
export function LogView({ label, lines, filter, onFilter, isLive, pages, empty, height = 480 }: LogViewProps) {
  const box = useRef<HTMLDivElement>(null);
  const [follows, setFollows] = useState(true);
  const [wraps, setWraps] = useState(true);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => LINE_HEIGHT,
    getItemKey: (index) => lines[index]!.id,
    overscan: 20,
  });
  const last = lines.at(-1)?.id;
  useEffect(() => {
    if (follows && last !== undefined) virtual.scrollToIndex(lines.length - 1, { align: "end" });
    // a filter may shrink the list; only a new last line scrolls the view
  }, [follows, last, virtual, lines.length]);
  return (
    <Paper withBorder>
      <Group gap="xs" p="xs" className={classes["tools"]}>
        <TextInput
          aria-label={`Search in ${label}`}
          placeholder="Search"
          size="xs"
          leftSection={<IconSearch size={14} aria-hidden />}
          value={filter.query}
          onChange={(event) => onFilter({ ...filter, query: event.currentTarget.value })}
          style={{ flex: "1 1 10rem" }}
        />
        <Select
          aria-label="Level"
          size="xs"
          data={LEVELS}
          value={filter.level}
          onChange={(level) => onFilter({ ...filter, level: level ?? "" })}
          allowDeselect={false}
          w={170}
        />
        <Switch
          size="xs"
          label="Wrap"
          checked={wraps}
          onChange={(event) => setWraps(event.currentTarget.checked)}
          styles={{ track: { cursor: "pointer" } }}
        />
        {isLive && (
          <Switch
            size="xs"
            label="Follow"
            checked={follows}
            onChange={(event) => setFollows(event.currentTarget.checked)}
          />
        )}
      </Group>
      <div
        ref={box}
        className={classes["lines"]}
        style={{ height }}
        role="log"
        aria-label={label}
        tabIndex={0}
        onWheel={(event) => event.deltaY < 0 && setFollows(false)}
        onKeyDown={(event) => /^(PageUp|Home|ArrowUp)$/.test(event.key) && setFollows(false)}
        onTouchMove={() => setFollows(false)}
      >
        <NextPage pages={pages} label="Show older lines" />
        {lines.length === 0 && (
          <Text size="sm" c="dimmed" p="md" component="div">
            {filter.query !== "" || filter.level !== "" ? "No lines match the search and level." : empty}
          </Text>
        )}
        <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const { timestamp, level, message } = lines[index]!;
            return (
              <div
                key={key}
                data-index={index}
                ref={virtual.measureElement}
                className={classes["entry"]}
                data-wraps={wraps}
                style={{ transform: `translateY(${start}px)` }}
              >
                {isFirstOfDay(lines, index) && <div className={classes["day"]}>{day.format(timestamp)}</div>}
                <div className={classes["line"]} data-level={level.toUpperCase()}>
                  <time dateTime={new Date(timestamp).toISOString()} title={new Date(timestamp).toISOString()}>
                    {clock(timestamp)}
                  </time>
                  <span className={classes["level"]}>{level.toUpperCase()}</span>
                  <span className={classes["message"]}>{message}</span>
                </div>
              </div>
            );
          })}
        </div>
      </div>
      {isLive && !follows && lines.length > 0 && (
        <Group justify="center" p={4}>
          <Button
            size="compact-xs"
            variant="default"
            leftSection={<IconArrowDown size={12} aria-hidden />}
            onClick={() => setFollows(true)}
          >
            Jump to latest
          </Button>
        </Group>
      )}
    </Paper>
  );
}

const day = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", year: "numeric" });

function isFirstOfDay(lines: readonly LogLine[], index: number): boolean {
  const before = lines[index - 1];
  return before === undefined || day.format(before.timestamp) !== day.format(lines[index]!.timestamp);
}

/** Formats a time in the browser's zone, to the millisecond, as lines of one request are close together. */
function clock(timestamp: number): string {
  const at = new Date(timestamp);
  const two = (value: number) => String(value).padStart(2, "0");
  const ms = String(at.getMilliseconds()).padStart(3, "0");
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${ms}`;
}
