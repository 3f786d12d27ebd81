import { Text } from "@mantine/core";
import { useHotkeys, useLocalStorage } from "@mantine/hooks";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useCallback, useDeferredValue, useEffect, useId, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";

import { count, duration } from "../../ui/format.ts";
import { useNow } from "../../ui/use-now.ts";
import { describeTimes } from "./describe-times.ts";
import { criticalPath, type Interval, longestOnPath } from "./run-times.ts";
import { TimeRuler } from "./time-ruler.tsx";
import { TreeRow } from "./tree-row.tsx";
import { TreeTools } from "./tree-tools.tsx";
import {
  listAncestors,
  initiallyCollapsed,
  findMatches,
  type TraceNode,
  type TraceTree,
  visibleNodes,
} from "./trace-tree.ts";
import classes from "./trace-tree-view.module.css";
import { useTimeWindow } from "./use-time-window.ts";

const ROW = 28;
/** More rows than are ever drawn. */
const POOL = 200;

interface TraceTreeViewProps {
  tree: TraceTree;
  selectedId: string;
  onSelect: (id: string) => void;
}

/**
 * The runs of a trace, each with a bar on the trace's time axis, which zooms and pans. Up and Down select runs, Left and
 * Right collapse and expand them, as in every tree.
 */
export function TraceTreeView({ tree, selectedId: routeId, onSelect: navigateTo }: TraceTreeViewProps) {
  const [selectedId, onSelect] = useQuickSelection(routeId, navigateTo);
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();
  const now = useNow();
  const [closed, setClosed] = useState<ReadonlySet<string>>(() => {
    const first = initiallyCollapsed(tree);
    for (const runId of listAncestors(tree, [selectedId])) first.delete(runId);
    return first;
  });
  const [text, setText] = useState("");
  const [isWide, setWide] = useLocalStorage({
    key: "heddle.trace.wide",
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  const [showsPath, setShowPath] = useState(false);
  const end = tree.isRunning ? Math.max(tree.end, now) : tree.end;
  // rows are drawn again only when it changes
  const whole = useMemo((): Interval => [tree.start, end], [tree.start, end]);
  const times = useTimeWindow(whole, scroller);
  const liveNow = tree.isRunning ? now : 0;
  const path = useMemo(() => (showsPath ? criticalPath(tree, liveNow) : undefined), [tree, showsPath, liveNow]);
  const wanted = useDeferredValue(text.trim());
  const matches = useMemo(() => findMatches(tree, wanted), [tree, wanted]);
  const nodes = useMemo(() => {
    if (wanted === "") return visibleNodes(tree, closed);
    const above = listAncestors(tree, matches);
    return visibleNodes(tree, new Set()).filter((node) => matches.has(node.id) || above.has(node.id));
  }, [tree, closed, wanted, matches]);
  const selectedAt = useMemo(() => nodes.findIndex((node) => node.id === selectedId), [nodes, selectedId]);

  const virtual = useVirtualizer({
    count: nodes.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 8,
  });
  useEffect(() => {
    if (selectedAt >= 0) virtual.scrollToIndex(selectedAt);
    // a keyboard shortcut or a link selected a run within a collapsed run
    else if (wanted === "" && tree.byId.has(selectedId)) {
      const above = listAncestors(tree, [selectedId]);
      setClosed((before) => new Set([...before].filter((id) => !above.has(id))));
    }
    // runs when the selection changes, not when rows arrive
  }, [selectedId]);

  const toggle = useCallback((node: TraceNode) => {
    setClosed((before) => {
      const next = new Set(before);
      if (!next.delete(node.id)) next.add(node.id);
      return next;
    });
  }, []);
  const goTo = (at: number) => {
    const node = nodes[Math.max(0, Math.min(nodes.length - 1, at))];
    if (node) onSelect(node.id);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const at = Math.max(0, selectedAt);
    const node = nodes[at];
    if (!node || event.shiftKey) return;
    const hasBranch = node.children.length > 0 && wanted === "";
    const isOpen = hasBranch && !closed.has(node.id);
    const moves: Record<string, () => void> = {
      ArrowDown: () => goTo(at + 1),
      ArrowUp: () => goTo(at - 1),
      PageDown: () => goTo(at + 20),
      PageUp: () => goTo(at - 20),
      Home: () => goTo(0),
      End: () => goTo(nodes.length - 1),
      ArrowRight: () => (hasBranch && !isOpen ? toggle(node) : goTo(at + 1)),
      ArrowLeft: () => (isOpen ? toggle(node) : node.parentId !== null && onSelect(node.parentId)),
      Enter: () => hasBranch && toggle(node),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  };
  const nextMatch = () => {
    const after = nodes.findIndex((node, at) => at > selectedAt && matches.has(node.id));
    goTo(after >= 0 ? after : nodes.findIndex((node) => matches.has(node.id)));
  };

  const showRun = () => {
    const node = tree.byId.get(selectedId);
    if (node) times.show([node.start, node.end ?? now]);
  };
  useHotkeys([
    ["=", times.zoomIn],
    ["[plus]", times.zoomIn],
    ["shift+[plus]", times.zoomIn],
    ["-", times.zoomOut],
    ["0", times.reset],
    ["z", showRun],
    ["shift+ArrowLeft", () => times.pan(-1)],
    ["shift+ArrowRight", () => times.pan(1)],
    ["l", () => setShowPath(!showsPath)],
    ["w", () => setWide(!isWide)],
  ]);
  const selected = tree.byId.get(selectedId);

  return (
    <div className={classes.frame} data-wide={isWide || undefined}>
      <TreeTools
        text={text}
        onText={setText}
        onNextMatch={nextMatch}
        found={wanted === "" ? `${count(tree.byId.size)} runs` : `${count(matches.size)} found`}
        onExpand={() => setClosed(new Set())}
        onCollapse={() =>
          setClosed(new Set([...tree.byId.values()].filter(({ size }) => size > 0).map((node) => node.id)))
        }
        times={times}
        isWide={isWide}
        onWide={setWide}
        showsPath={showsPath}
        onShowPath={setShowPath}
      />
      <div className={classes.axis}>
        <div className={classes.axisTimes}>
          <TimeRuler times={times} />
        </div>
      </div>
      <div
        ref={scroller}
        className={classes.scroller}
        role="tree"
        aria-label="Runs of the trace"
        tabIndex={0}
        aria-activedescendant={selectedAt >= 0 ? `${id}-${selectedId}` : undefined}
        onKeyDown={onKeyDown}
      >
        <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const node = nodes[index]!;
            return (
              <TreeRow
                // a row that leaves becomes one that enters: its elements are changed, not made anew
                key={index % POOL}
                domId={`${id}-${node.id}`}
                node={node}
                shown={times.shown}
                // a run with an active one below it grows too
                now={node.end === null ? now : 0}
                top={start}
                isSelected={node.id === selectedId}
                isMatch={wanted !== "" && matches.has(node.id)}
                isOpen={node.children.length > 0 ? wanted !== "" || !closed.has(node.id) : undefined}
                onPath={path && (path.get(node.id) ?? null)}
                onSelect={onSelect}
                onToggle={toggle}
              />
            );
          })}
        </div>
      </div>
      <Text size="xs" c="dimmed" className={classes.foot} aria-label="Times of the selected run" role="note">
        {path ? describePath(tree, path) : selected && describeTimes(selected, selected.end === null ? now : 0)}
      </Text>
    </div>
  );
}

function describePath(tree: TraceTree, path: ReadonlyMap<string, Interval[]>): string {
  const longest = longestOnPath(tree, path).map(([name, ms]) => `${name} ${duration(ms)}`);
  return `Critical path: ${longest.join(", ")}`;
}

/**
 * Shows the selection at once and updates the URL afterwards: URLs change later than keys are pressed, and a
 * late update must not revert the selection.
 */
function useQuickSelection(routeId: string, navigateTo: (id: string) => void): [string, (id: string) => void] {
  const [selected, setSelected] = useState(routeId);
  const pending = useRef({ inFlight: new Set<string>(), last: routeId, tell: navigateTo });
  pending.current.tell = navigateTo;
  useEffect(() => {
    const { inFlight, last } = pending.current;
    if (routeId === last) inFlight.clear();
    else if (!inFlight.has(routeId)) {
      pending.current.last = routeId;
      setSelected(routeId);
    }
  }, [routeId]);
  const select = useCallback((id: string) => {
    pending.current.inFlight.add(id);
    pending.current.last = id;
    // keys pressed before then start from here
    flushSync(() => setSelected(id));
    pending.current.tell(id);
  }, []);
  return [selected, select];
}
