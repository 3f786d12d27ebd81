import { memo } from "react";

import { duration } from "../../ui/format.ts";
import { colorOfType, RunIcon } from "../runs/run-icon.tsx";
import { StatusDot } from "../runs/status-dot.tsx";
import { barPosition, type TraceNode, type TraceTree } from "./trace-tree.ts";
import classes from "./trace-tree-view.module.css";

interface TreeRowProps {
  domId: string;
  node: TraceNode;
  tree: TraceTree;
  /** Set only while the run is active; milliseconds since 1970. */
  now: number;
  top: number;
  isSelected: boolean;
  isMatch: boolean;
  /** Undefined for a run without children. */
  isOpen: boolean | undefined;
  onSelect: (id: string) => void;
  onToggle: (node: TraceNode) => void;
}

/** Indentation of a level, and its maximum as a part of the width, beyond which names would have no room. */
const LEVEL = 14;
const DEEPEST = "18cqi";

export const TreeRow = memo(function TreeRow({
  domId,
  node,
  tree,
  now,
  top,
  isSelected,
  isMatch,
  isOpen,
  onSelect,
  onToggle,
}: TreeRowProps) {
  const { left, width } = barPosition(node, tree, now);
  const color = node.status === "error" ? "var(--heddle-danger)" : colorOfType(node.run_type);
  return (
    <div
      id={domId}
      role="treeitem"
      aria-level={node.depth + 1}
      aria-expanded={isOpen}
      aria-selected={isSelected}
      className={classes.row}
      data-match={isMatch || undefined}
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
      <span className={classes.took}>{duration(node.end === null ? null : node.end - node.start)}</span>
      <span className={classes.time} aria-hidden>
        <span
          className={classes.bar}
          style={{ insetInlineStart: `${left * 100}%`, width: `max(2px, ${width * 100}%)`, background: color }}
        />
      </span>
    </div>
  );
});
