/**
 * Table of any length: only visible rows are rendered. A click on a column's head sorts, in the browser or, with
 * `onSort`, by the owner of the rows. Arrow keys move between rows, Enter opens one.
 */
import {
  columnVisibilityFeature,
  createSortedRowModel,
  rowSortingFeature,
  type SortingState,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  startTransition,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";

import classes from "./data-table.module.css";
import { useRowHeight } from "./density.ts";
import { NextPage, type Pages, useNextPage } from "./next-page.tsx";

export interface Column<T> {
  id: string;
  header: ReactNode;
  /** Label of the head, where it is not text. */
  label?: string;
  cell: (row: T) => ReactNode;
  /** Sort key for sorting in the browser; without it, `onSort` and `sortable`, the head is not a button. */
  sortBy?: (row: T) => string | number | null | undefined;
  /** Whether the owner of the rows can sort by it. */
  sortable?: boolean;
  /** Width as in grid-template-columns: "120px", "minmax(160px, 2fr)". */
  width: string;
  align?: "left" | "right";
}

export interface Sort {
  id: string;
  desc: boolean;
}

interface DataTableProps<T> {
  label: string;
  columns: Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string;
  /** Ids of hidden columns. */
  hidden?: readonly string[];
  sort?: Sort | null;
  /** When given, the rows arrive sorted. */
  onSort?: (sort: Sort) => void;
  onOpen?: (row: T) => void;
  /** Selects a row, or takes it out of the selection: X, and Space. */
  onToggle?: (row: T) => void;
  /** Further pages of the rows, loaded near their end. */
  pages?: Pages;
  /** CSS length of the whole; shorter tables take only the space they need. */
  maxHeight?: string;
  /** In pixels, for rows of several lines; default: the density that the reader has chosen. */
  rowHeight?: number;
  isSelected?: (row: T) => boolean;
}

/** Rows that are rendered beyond both ends of the view. */
const OVERSCAN = 10;

const features = tableFeatures({
  rowSortingFeature,
  columnVisibilityFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: {},
});

export function DataTable<T extends object>(props: DataTableProps<T>) {
  const { label, columns, rows, rowKey, hidden, onOpen, pages, maxHeight = "calc(100dvh - 220px)" } = props;
  const { isSelected, onSort, onToggle } = props;
  const density = useRowHeight();
  const rowHeight = props.rowHeight ?? density;
  const [own, setOwn] = useState<SortingState>(props.sort ? [props.sort] : []);
  const [current, setCurrent] = useState<string | null>(null);
  const [overscan, setOverscan] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  const sorting = onSort ? (props.sort ? [props.sort] : []) : own;

  const definitions = useMemo(
    () =>
      columns.map(({ id, sortBy, sortable }) => ({
        id,
        accessorFn: (row: T) => sortBy?.(row) ?? undefined,
        enableSorting: sortBy !== undefined || sortable === true,
        sortUndefined: "last" as const,
        sortFn: (a: { original: T }, b: { original: T }) => compare(sortBy?.(a.original), sortBy?.(b.original)),
      })),
    [columns],
  );
  const columnVisibility = useMemo(() => Object.fromEntries((hidden ?? []).map((id) => [id, false])), [hidden]);
  const table = useTable({
    features,
    columns: definitions,
    data: rows,
    getRowId: rowKey,
    manualSorting: onSort !== undefined,
    state: { sorting, columnVisibility },
    onSortingChange: (change) => {
      const next = typeof change === "function" ? change(sorting) : change;
      if (!onSort) setOwn(next);
      else if (next[0]) onSort(next[0]);
    },
    enableSortingRemoval: false,
  });
  const sorted = table.getRowModel().rows;
  const visible = columns.filter(({ id }) => !hidden?.includes(id));
  const template = visible.map(({ width }) => width).join(" ");
  // minimum width of the columns, so that the table scrolls inside on narrow screens
  const minWidth = visible.reduce((sum, { width }) => sum + (Number(/(\d+)px/.exec(width)?.[1]) || 80), 0);

  const virtual = useVirtualizer({
    count: sorted.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => sorted[index]!.id,
    overscan,
  });
  // what is in view comes first
  useEffect(() => startTransition(() => setOverscan(OVERSCAN)), []);
  useEffect(() => virtual.measure(), [rowHeight, virtual]);
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  useNextPage(pages, last >= 0 && last >= sorted.length - 15);
  useStableRows(
    scroller,
    sorted.map(({ id }) => id),
    rowHeight,
  );

  const focusRow = (index: number) => {
    const row = sorted[Math.max(0, Math.min(sorted.length - 1, index))];
    if (!row) return;
    setCurrent(row.id);
    virtual.scrollToIndex(row.index === -1 ? index : sorted.indexOf(row));
    requestAnimationFrame(() => {
      scroller.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(row.id)}"]`)?.focus();
    });
  };
  const onKeyDown = (event: KeyboardEvent, index: number) => {
    if (event.target !== event.currentTarget) return;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 2);
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    if (event.key in moves) focusRow(index + moves[event.key]!);
    else if (event.key === "Home") focusRow(0);
    else if (event.key === "End") focusRow(sorted.length - 1);
    else if (event.key === "Enter" && onOpen) onOpen(sorted[index]!.original);
    else if ((event.key === "x" || event.key === " ") && onToggle) onToggle(sorted[index]!.original);
    else return;
    event.preventDefault();
  };

  return (
    <div ref={scroller} className={classes.scroller} style={{ maxHeight }}>
      <div
        role="table"
        aria-label={label}
        aria-rowcount={sorted.length + 1}
        aria-colcount={visible.length}
        tabIndex={sorted.length === 0 ? 0 : -1}
        style={{ minWidth }}
      >
        <div role="rowgroup" className={classes.head}>
          <div role="row" aria-rowindex={1} className={classes.grid} style={{ gridTemplateColumns: template }}>
            {visible.map((column) => {
              const handle = table.getColumn(column.id)!;
              const direction = sorting.find(({ id }) => id === column.id);
              return (
                <div
                  key={column.id}
                  role="columnheader"
                  className={classes.cell}
                  data-align={column.align}
                  aria-sort={direction ? (direction.desc ? "descending" : "ascending") : undefined}
                >
                  {handle.getCanSort() ? (
                    <button
                      type="button"
                      className={classes.sort}
                      aria-label={column.label}
                      onClick={() => handle.toggleSorting(direction ? !direction.desc : true)}
                    >
                      {column.header}
                      <span aria-hidden>{direction ? (direction.desc ? " ↓" : " ↑") : ""}</span>
                    </button>
                  ) : (
                    column.header
                  )}
                </div>
              );
            })}
          </div>
        </div>
        <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {items.map(({ index, key, start }) => {
            const row = sorted[index]!;
            const isCurrent =
              current === null || !sorted.some(({ id }) => id === current) ? index === 0 : row.id === current;
            return (
              <div
                key={key}
                role="row"
                data-row={row.id}
                aria-rowindex={index + 2}
                aria-selected={isSelected?.(row.original)}
                tabIndex={isCurrent ? 0 : -1}
                className={`${classes.grid} ${classes.row}`}
                data-opens={onOpen !== undefined || undefined}
                style={{ gridTemplateColumns: template, height: rowHeight, transform: `translateY(${start}px)` }}
                onKeyDown={(event) => onKeyDown(event, index)}
                onFocus={() => setCurrent(row.id)}
                onClick={(event) => {
                  const inside = (event.target as Element).closest("a, button, input, label");
                  if (!inside && !getSelection()?.toString()) onOpen?.(row.original);
                }}
              >
                {visible.map((column) => (
                  <div key={column.id} role="cell" className={classes.cell} data-align={column.align}>
                    {column.align === "right" ? <bdi>{column.cell(row.original)}</bdi> : column.cell(row.original)}
                  </div>
                ))}
              </div>
            );
          })}
        </div>
      </div>
      <NextPage pages={pages} />
    </div>
  );
}

/** Keeps the rows in view in place when new ones arrive above. At the very top, the new ones are shown. */
function useStableRows(scroller: RefObject<HTMLDivElement | null>, ids: string[], rowHeight: number) {
  const before = useRef<string[]>([]);
  useLayoutEffect(() => {
    const element = scroller.current;
    const [first] = before.current;
    // the position last: to read it lays the page out
    if (element && first !== undefined && ids[0] !== first && element.scrollTop > 0) {
      const moved = ids.indexOf(first);
      if (moved > 0) element.scrollTop += moved * rowHeight;
    }
    before.current = ids;
  });
}

/** Compares values; `sortUndefined` puts missing ones last in both directions. */
function compare(a: string | number | null | undefined, b: string | number | null | undefined): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a ?? "").localeCompare(String(b ?? ""), "en", { numeric: true, sensitivity: "base" });
}
