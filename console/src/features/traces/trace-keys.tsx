import { ActionIcon, Kbd, Modal, Table, Text, Tooltip } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { IconKeyboard } from "@tabler/icons-react";
import { useMemo, useState } from "react";

import { type TraceTree, visibleNodes } from "./trace-tree.ts";

const KEYS: [keys: string[], action: string][] = [
  [["J"], "Next run"],
  [["K"], "Previous run"],
  [["P"], "Parent run"],
  [["C"], "First child run"],
  [["↑", "↓"], "Select runs in the tree"],
  [["←", "→"], "Collapse and expand a run in the tree"],
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
  return (
    <>
      <Tooltip label="Keyboard shortcuts">
        <ActionIcon variant="default" size={30} aria-label="Show keyboard shortcuts" onClick={() => setOpen(true)}>
          <IconKeyboard size={16} />
        </ActionIcon>
      </Tooltip>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title="Keyboard shortcuts" size="sm">
        <Table aria-label="Keyboard shortcuts">
          <Table.Tbody>
            {KEYS.map(([keys, action]) => (
              <Table.Tr key={action}>
                <Table.Td w={90}>
                  {keys.map((key) => (
                    <Kbd key={key} mr={4}>
                      {key}
                    </Kbd>
                  ))}
                </Table.Td>
                <Table.Td>
                  <Text size="sm">{action}</Text>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Modal>
    </>
  );
}
