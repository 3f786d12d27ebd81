import { useHotkeys } from "@mantine/hooks";
import { useMemo, useState } from "react";

import { ShortcutsButton } from "../../ui/shortcuts-button.tsx";
import { type TraceTree, visibleNodes } from "./trace-tree.ts";

const KEYS: [keys: string[], action: string][] = [
  [["J"], "Next run"],
  [["K"], "Previous run"],
  [["P"], "Parent run"],
  [["C"], "First child run"],
  [["↑", "↓"], "Select runs in the tree"],
  [["←", "→"], "Collapse and expand a run in the tree"],
  [["+", "-"], "Zoom the waterfall in and out"],
  [["Shift ←", "Shift →"], "Pan the waterfall"],
  [["Z"], "Zoom to the selected run"],
  [["0"], "Show the whole trace"],
  [["L"], "Critical path"],
  [["W"], "Waterfall across the page"],
  [["M"], "Mark the run; on another run, compare both"],
  [["?"], "Show keyboard shortcuts"],
];

interface TraceKeysProps {
  tree: TraceTree;
  selectedId: string;
  onSelect: (id: string) => void;
}

/** Keyboard shortcuts that select a trace's runs from anywhere on the page, and their list. */
export function TraceKeys({ tree, selectedId, onSelect }: TraceKeysProps) {
  const [isOpen, setOpen] = useState(false);
  const order = useMemo(() => visibleNodes(tree, new Set()), [tree]);
  const selected = tree.byId.get(selectedId);
  const move = (by: number) => {
    const next = order[order.findIndex(({ id }) => id === selectedId) + by];
    if (next) onSelect(next.id);
  };
  useHotkeys([
    ["j", () => move(1)],
    ["k", () => move(-1)],
    ["p", () => selected?.parentId != null && onSelect(selected.parentId)],
    ["c", () => selected?.children[0] && onSelect(selected.children[0].id)],
    ["shift+?", () => setOpen(true)],
  ]);
  return <ShortcutsButton shortcuts={KEYS} isOpen={isOpen} onOpen={setOpen} />;
}
