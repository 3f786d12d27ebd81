import { ActionIcon, Box, Group, Tooltip } from "@mantine/core";
import { IconCheck, IconCopy, IconFold, IconFoldDown } from "@tabler/icons-react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useId, useMemo, useRef, useState } from "react";

import { allExpanded, initiallyExpanded, type JsonRow, PAGE, visibleRows } from "./json-rows.ts";
import classes from "./json-view.module.css";
import { useCopy } from "./use-copy.ts";

/** Number of characters of a text that are shown before it is expanded. */
const SHORT = 400;

interface JsonViewProps {
  value: unknown;
  /** Label for screen readers. */
  label: string;
  /** CSS length; longer values scroll inside. */
  maxHeight?: string;
}

/** JSON as an expandable tree. Arrow keys navigate; values of many megabytes stay fast. */
export function JsonView({ value, label, maxHeight = "28rem" }: JsonViewProps) {
  const [open, setOpen] = useState<ReadonlySet<string>>(() => initiallyExpanded(value));
  const [shown, setShown] = useState<ReadonlyMap<string, number>>(new Map());
  const [long, setLong] = useState<ReadonlySet<string>>(new Set());
  const [at, setAt] = useState(0);
  const id = useId();
  const clipboard = useCopy();
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => visibleRows(value, { open, shown }), [value, open, shown]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 22,
    getItemKey: (index) => rows[index]!.id,
    overscan: 12,
  });

  const toggle = (row: JsonRow) => {
    if (row.kind === "more") {
      setShown(new Map(shown).set(row.key!, (shown.get(row.key!) ?? PAGE) + PAGE * 4));
    } else if (row.kind === "string") {
      setLong(toggled(long, row.id));
    } else if (row.size > 0) {
      setOpen(toggled(open, row.id));
    }
  };
  const goTo = (index: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, index));
    setAt(next);
    virtual.scrollToIndex(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[Math.min(at, rows.length - 1)]!;
    const parent = () => rows.findLastIndex(({ depth }, index) => index < at && depth < row.depth);
    const moves: Record<string, () => void> = {
      ArrowDown: () => goTo(at + 1),
      ArrowUp: () => goTo(at - 1),
      Home: () => goTo(0),
      End: () => goTo(rows.length - 1),
      ArrowRight: () => (row.size > 0 && !row.isOpen ? toggle(row) : goTo(at + 1)),
      ArrowLeft: () => (row.isOpen ? toggle(row) : goTo(parent())),
      Enter: () => toggle(row),
      " ": () => toggle(row),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  };

  return (
    <Box pos="relative" className={classes.frame}>
      <Group gap={2} className={classes.tools}>
        <Tool label="Expand all" onClick={() => setOpen(allExpanded(value))} icon={<IconFoldDown size={14} />} />
        <Tool label="Collapse all" onClick={() => setOpen(new Set([""]))} icon={<IconFold size={14} />} />
        <Tool
          label={clipboard.copied ? "Copied" : `Copy ${label}`}
          // a large value is serialized only when it is copied
          onClick={() => clipboard.copy(JSON.stringify(value, null, 2))}
          icon={clipboard.copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
        />
      </Group>
      <div
        ref={scroller}
        role="tree"
        aria-label={label}
        tabIndex={0}
        className={classes.scroller}
        style={{ maxHeight }}
        onKeyDown={onKeyDown}
        aria-activedescendant={`${id}-${at}`}
      >
        <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const row = rows[index]!;
            return (
              <div
                key={key}
                id={`${id}-${index}`}
                ref={virtual.measureElement}
                data-index={index}
                data-current={index === at || undefined}
                role="treeitem"
                aria-level={row.depth + 1}
                aria-expanded={row.size > 0 && row.kind !== "more" ? row.isOpen : undefined}
                aria-selected={index === at}
                className={classes.row}
                style={{ transform: `translateY(${start}px)`, paddingInlineStart: 18 + row.depth * 14 }}
                onClick={() => {
                  setAt(index);
                  if (row.kind !== "string") toggle(row);
                }}
              >
                <Member row={row} isLong={long.has(row.id)} onUnfold={() => toggle(row)} />
              </div>
            );
          })}
        </div>
      </div>
    </Box>
  );
}

function Member({ row, isLong, onUnfold }: { row: JsonRow; isLong: boolean; onUnfold: () => void }) {
  if (row.kind === "more") return <span className={classes.more}>{row.size.toLocaleString("en")} more …</span>;
  const isBranch = row.kind === "object" || row.kind === "array";
  return (
    <>
      {isBranch && row.size > 0 && (
        <span aria-hidden className={classes.arrow}>
          {row.isOpen ? "▾" : "▸"}
        </span>
      )}
      {row.key !== null && <span className={classes.key}>{row.key}: </span>}
      {isBranch ? (
        <span className={classes.brief}>{summarize(row)}</span>
      ) : row.kind === "string" ? (
        <TextValue text={String(row.value)} isLong={isLong} onUnfold={onUnfold} />
      ) : (
        <span className={classes[row.kind]}>{row.value === undefined ? "null" : JSON.stringify(row.value)}</span>
      )}
    </>
  );
}

function TextValue({ text, isLong, onUnfold }: { text: string; isLong: boolean; onUnfold: () => void }) {
  const isCut = text.length > SHORT;
  return (
    <span className={classes.string}>
      "{isCut && !isLong ? text.slice(0, SHORT) : text}
      {isCut && !isLong ? "…" : '"'}
      {isCut && (
        <button type="button" tabIndex={-1} className={classes.unfold} onClick={onUnfold}>
          {isLong ? "less" : `all ${text.length.toLocaleString("en")} characters`}
        </button>
      )}
    </span>
  );
}

function Tool({ label, onClick, icon }: { label: string; onClick: () => void; icon: ReactNode }) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="neutral" size="sm" aria-label={label} onClick={onClick}>
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}

function summarize({ kind, size, isOpen, value }: JsonRow): string {
  const [left, right] = kind === "array" ? ["[", "]"] : ["{", "}"];
  if (size === 0) return left + right;
  if (isOpen) return left;
  const members =
    kind === "array"
      ? `${size} item${size === 1 ? "" : "s"}`
      : Object.keys(value as object)
          .slice(0, 4)
          .join(", ");
  return `${left} ${members}${kind === "object" && size > 4 ? ", …" : ""} ${right}`;
}

function toggled(set: ReadonlySet<string>, id: string): Set<string> {
  const next = new Set(set);
  if (!next.delete(id)) next.add(id);
  return next;
}
