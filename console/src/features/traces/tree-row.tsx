import { memo, useMemo } from "react";

import { duration, money, tokens } from "../../ui/format.ts";
import { colorOfType, RunIcon } from "../runs/run-icon.tsx";
import { StatusDot } from "../runs/status-dot.tsx";
import { type Interval, joinClose, workIntervals } from "./run-times.ts";
import { spanPosition } from "./time-window.ts";
import type { TraceNode } from "./trace-tree.ts";
import classes from "./trace-tree-view.module.css";

interface TreeRowProps {
  domId: string;
  node: TraceNode;
  /** Visible part of the time axis. */
  shown: Interval;
  /** Set only while the run is active; milliseconds since 1970. */
  now: number;
  top: number;
  isSelected: boolean;
  isMatch: boolean;
  /** Undefined for a run without children. */
  isOpen: boolean | undefined;
  /** Times that the critical path spends in this run; null beside the path; undefined while the path is not shown. */
  onPath: readonly Interval[] | null | undefined;
  onSelect: (id: string) => void;
  onToggle: (node: TraceNode) => void;
}

/** Indentation of a level, and its maximum as a part of the width, beyond which names would have no room. */
const LEVEL = 14;
const DEEPEST = "18cqi";

export const TreeRow = memo(function TreeRow(props: TreeRowProps) {
  const { domId, node, shown, now, top, isSelected, isMatch, isOpen, onPath, onSelect, onToggle } = props;
  return (
    <div
      id={domId}
      role="treeitem"
      aria-level={node.depth + 1}
      aria-expanded={isOpen}
      aria-selected={isSelected}
      className={classes.row}
      data-match={isMatch || undefined}
      data-path={onPath === undefined ? undefined : onPath === null ? "beside" : "on"}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onSelect(node.id)}
    >
      <span className={classes.name} style={{ paddingInlineStart: `min(${node.depth * LEVEL}px, ${DEEPEST})` }}>
        {isOpen === undefined ? (
          <span className={classes.noArrow} />
        ) : (
          <button
            type="button"
            tabIndex={-1}
            aria-label={isOpen ? "Close" : "Open"}
            className={classes.arrow}
            onClick={(event) => {
              event.stopPropagation();
              onToggle(node);
            }}
          >
            {isOpen ? "▾" : "▸"}
          </button>
        )}
        <RunIcon type={node.run_type} size={15} />
        {node.status !== "success" && <StatusDot status={node.status} size={13} />}
        <span className={classes.text} title={node.error ?? node.name}>
          {node.name || "Unnamed"}
        </span>
        {isOpen === false && (
          <span className={classes.below} data-failed={node.failures > 0 || undefined}>
            {node.size}
            {node.failures > 0 && `, ${node.failures} failed`}
          </span>
        )}
      </span>
      <span className={classes.figures}>
        {node.tokens !== null && node.tokens > 0 && <span title="Tokens">{tokens(node.tokens)}</span>}
        {node.cost !== null && <span title="Cost">{money(node.cost)}</span>}
      </span>
      <span className={classes.took}>{duration(node.end === null ? null : node.end - node.start)}</span>
      <Bars node={node} shown={shown} now={now} onPath={onPath ?? []} />
    </div>
  );
});

/** Share of the window below which gaps between a run's own work are not drawn. */
const FINEST = 1 / 300;

/** A run's time: quiet while it waits, strong while it works, underlined where it is the critical path. */
function Bars({
  node,
  shown,
  now,
  onPath,
}: Pick<TreeRowProps, "node" | "shown" | "now"> & { onPath: readonly Interval[] }) {
  const whole: Interval = [node.start, Math.max(node.start, node.end ?? now)];
  const at = spanPosition(whole, shown);
  const gap = (shown[1] - shown[0]) * FINEST;
  const work = useMemo(
    () =>
      at === null
        ? []
        : joinClose(workIntervals(node, now), gap).filter(([from, to]) => to > shown[0] && from < shown[1]),
    [node, now, shown[0], shown[1]],
  );
  const color = node.status === "error" ? "var(--heddle-danger)" : colorOfType(node.run_type);
  const place = (interval: Interval) => {
    const { left, width } = spanPosition(interval, shown) ?? { left: 0, width: 0 };
    return { left: `${left * 100}%`, width: `max(2px, ${width * 100}%)` };
  };
  return (
    <span className={classes.time} data-times aria-hidden>
      {at === null ? (
        <span className={classes.outside} data-side={whole[1] < shown[0] ? "before" : "after"}>
          {whole[1] < shown[0] ? "◂" : "▸"}
        </span>
      ) : (
        <>
          <span className={classes.bar} style={{ ...place(whole), background: color }} />
          {work.map((interval) => (
            <span
              key={interval[0]}
              className={classes.work}
              data-work
              style={{ ...place(interval), background: color }}
            />
          ))}
          {onPath.map(
            (interval) =>
              spanPosition(interval, shown) && (
                <span key={interval[0]} className={classes.path} data-critical style={place(interval)} />
              ),
          )}
        </>
      )}
    </span>
  );
}
