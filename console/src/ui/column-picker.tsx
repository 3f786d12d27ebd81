import { ActionIcon, Button, Checkbox, Group, Popover, Stack } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconColumns } from "@tabler/icons-react";

import { moveColumn } from "./column-order.ts";

interface ColumnPickerProps {
  /** Columns in their current order. */
  columns: { id: string; label: string }[];
  hidden: readonly string[];
  onChange: (hidden: string[]) => void;
  /** Absent for tables whose columns have a fixed order. */
  onOrder?: (order: string[]) => void;
}

/** Menu that selects and orders the visible columns of a table. */
export function ColumnPicker({ columns, hidden, onChange, onOrder }: ColumnPickerProps) {
  const ids = columns.map(({ id }) => id);
  return (
    <Popover position="bottom-end" withinPortal trapFocus>
      <Popover.Target>
        <Button variant="default" size="xs" leftSection={<IconColumns size={14} aria-hidden />}>
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap={6} mah="60vh" style={{ overflowY: "auto" }}>
          {columns.map(({ id, label }, index) => (
            <Group key={id} gap={4} justify="space-between" wrap="nowrap">
              <Checkbox
                size="xs"
                label={label}
                checked={!hidden.includes(id)}
                onChange={({ currentTarget: { checked } }) =>
                  onChange(checked ? hidden.filter((hiddenId) => hiddenId !== id) : [...hidden, id])
                }
              />
              {onOrder && (
                <Group gap={0} wrap="nowrap" ms="md">
                  <Move
                    label={`Move ${label} left`}
                    isDisabled={index === 0}
                    icon={IconArrowUp}
                    onClick={() => onOrder(moveColumn(ids, id, -1))}
                  />
                  <Move
                    label={`Move ${label} right`}
                    isDisabled={index === ids.length - 1}
                    icon={IconArrowDown}
                    onClick={() => onOrder(moveColumn(ids, id, 1))}
                  />
                </Group>
              )}
            </Group>
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

interface MoveProps {
  label: string;
  isDisabled: boolean;
  icon: typeof IconArrowUp;
  onClick: () => void;
}

const Move = ({ label, isDisabled, icon: Icon, onClick }: MoveProps) => (
  <ActionIcon variant="subtle" color="neutral" size="sm" aria-label={label} disabled={isDisabled} onClick={onClick}>
    <Icon size={13} />
  </ActionIcon>
);
