import { ActionIcon, Group, Text, TextInput, Tooltip } from "@mantine/core";
import { IconFold, IconFoldDown, IconSearch } from "@tabler/icons-react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useCallback, useDeferredValue, useEffect, useId, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";

import { count, duration } from "../../ui/format.ts";
import { useNow } from "../../ui/use-now.ts";
import { TreeRow } from "./tree-row.tsx";
import {
  listAncestors,
  initiallyCollapsed,
  findMatches,
  type TraceNode,
  type TraceTree,
  visibleNodes,
} from "./trace-tree.ts";
import classes from "./trace-tree-view.module.css";

const ROW = 28;

interface TraceTreeViewProps {
  tree: TraceTree;
  selectedId: string;
  onSelect: (id: string) => void;
}

/**
 * The runs of a trace, each with a bar on the trace's time axis. Up and Down select runs, Left and Right collapse and
 * expand them, as in every tree.
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
    if (!node) return;
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

  return (
    <div className={classes.frame}>
      <Group gap={6} p={6} wrap="nowrap" className={classes.tools}>
        <TextInput
          size="xs"
          aria-label="Search in this trace"
          placeholder="Search in this trace"
          leftSection={<IconSearch size={13} aria-hidden />}
          style={{ flex: 1 }}
          value={text}
          onChange={({ currentTarget: { value } }) => setText(value)}
          onKeyDown={(event) => event.key === "Enter" && nextMatch()}
        />
        <Text size="xs" c="dimmed" className="numbers" role="status" style={{ whiteSpace: "nowrap" }}>
          {wanted === "" ? `${count(tree.byId.size)} runs` : `${count(matches.size)} found`}
        </Text>
        <Tooltip label="Expand all runs">
          <ActionIcon
            variant="subtle"
            color="neutral"
            aria-label="Expand all runs"
            onClick={() => setClosed(new Set())}
          >
            <IconFoldDown size={15} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label="Collapse all runs">
          <ActionIcon
            variant="subtle"
            color="neutral"
            aria-label="Collapse all runs"
            onClick={() =>
              setClosed(new Set([...tree.byId.values()].filter(({ size }) => size > 0).map((node) => node.id)))
            }
          >
            <IconFold size={15} />
          </ActionIcon>
        </Tooltip>
      </Group>
      <div className={classes.axis} aria-hidden>
        <span className={classes.name} />
        <span className={classes.took} />
        <span className={classes.times}>
          <span>0</span>
          <span>{duration((tree.end - tree.start) / 2)}</span>
          <span>{duration(tree.end - tree.start)}</span>
        </span>
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
                key={node.id}
                domId={`${id}-${node.id}`}
                node={node}
                tree={tree}
                now={node.end === null ? now : 0}
                top={start}
                isSelected={node.id === selectedId}
                isMatch={wanted !== "" && matches.has(node.id)}
                isOpen={node.children.length > 0 ? wanted !== "" || !closed.has(node.id) : undefined}
                onSelect={onSelect}
                onToggle={toggle}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
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
