import { ActionIcon, Group, Text, TextInput, Tooltip } from "@mantine/core";
import {
  IconArrowsMaximize,
  IconFold,
  IconFoldDown,
  IconLayoutRows,
  IconRoute2,
  IconSearch,
  IconZoomIn,
  IconZoomOut,
} from "@tabler/icons-react";
import type { ReactNode } from "react";

import type { TimeWindow } from "./use-time-window.ts";

interface TreeToolsProps {
  text: string;
  onText: (text: string) => void;
  onNextMatch: () => void;
  found: string;
  onExpand: () => void;
  onCollapse: () => void;
  times: TimeWindow;
  isWide: boolean;
  onWide: (isWide: boolean) => void;
  showsPath: boolean;
  onShowPath: (showsPath: boolean) => void;
}

/** Search, and buttons for branches, the time axis and the critical path. */
export function TreeTools({ text, onText, onNextMatch, found, times, ...on }: TreeToolsProps) {
  return (
    <Group gap={4} p={6} wrap="nowrap">
      <TextInput
        size="xs"
        aria-label="Search in this trace"
        placeholder="Search in this trace"
        leftSection={<IconSearch size={13} aria-hidden />}
        style={{ flex: 1, minWidth: 90 }}
        value={text}
        onChange={({ currentTarget: { value } }) => onText(value)}
        onKeyDown={(event) => event.key === "Enter" && onNextMatch()}
      />
      <Text size="xs" c="dimmed" className="numbers" role="status" mx={2} style={{ whiteSpace: "nowrap" }}>
        {found}
      </Text>
      <Group gap={0} wrap="nowrap">
        <Tool label="Expand all runs" onClick={on.onExpand}>
          <IconFoldDown size={15} />
        </Tool>
        <Tool label="Collapse all runs" onClick={on.onCollapse}>
          <IconFold size={15} />
        </Tool>
        <Tool label="Critical path" isOn={on.showsPath} onClick={() => on.onShowPath(!on.showsPath)}>
          <IconRoute2 size={15} />
        </Tool>
        <Tool label="Zoom in" onClick={times.zoomIn}>
          <IconZoomIn size={15} />
        </Tool>
        <Tool label="Zoom out" isDisabled={!times.isZoomed} onClick={times.zoomOut}>
          <IconZoomOut size={15} />
        </Tool>
        <Tool label="Show the whole trace" isDisabled={!times.isZoomed} onClick={times.reset}>
          <IconArrowsMaximize size={14} />
        </Tool>
        <Tool label="Waterfall across the page" isOn={on.isWide} onClick={() => on.onWide(!on.isWide)}>
          <IconLayoutRows size={15} />
        </Tool>
      </Group>
    </Group>
  );
}

interface ToolProps {
  label: string;
  onClick: () => void;
  isOn?: boolean;
  isDisabled?: boolean;
  children: ReactNode;
}

function Tool({ label, onClick, isOn, isDisabled = false, children }: ToolProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant={isOn ? "light" : "subtle"}
        color="neutral"
        aria-label={label}
        aria-pressed={isOn}
        disabled={isDisabled}
        onClick={onClick}
      >
        {children}
      </ActionIcon>
    </Tooltip>
  );
}
