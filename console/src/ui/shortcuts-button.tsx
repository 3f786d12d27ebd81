import { ActionIcon, Kbd, Modal, Table, Text, Tooltip } from "@mantine/core";
import { IconKeyboard } from "@tabler/icons-react";

/** Keys, and the action that they or their combination trigger. */
export type Shortcut = [keys: string[], action: string];

interface ShortcutsButtonProps {
  shortcuts: readonly Shortcut[];
  isOpen: boolean;
  onOpen: (isOpen: boolean) => void;
}

/** Button that lists a page's keyboard shortcuts. */
export function ShortcutsButton({ shortcuts, isOpen, onOpen }: ShortcutsButtonProps) {
  return (
    <>
      <Tooltip label="Keyboard shortcuts">
        <ActionIcon variant="default" size={30} aria-label="Show keyboard shortcuts" onClick={() => onOpen(true)}>
          <IconKeyboard size={16} />
        </ActionIcon>
      </Tooltip>
      <Modal
        opened={isOpen}
        onClose={() => onOpen(false)}
        title="Keyboard shortcuts"
        size="sm"
        closeButtonProps={{ title: "Close" }}
      >
        <Table aria-label="Keyboard shortcuts">
          <Table.Tbody>
            {shortcuts.map(([keys, action]) => (
              <Table.Tr key={action}>
                <Table.Td w={130}>
                  {keys.map((key) => (
                    <Kbd key={key} me={4}>
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
