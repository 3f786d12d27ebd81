import { Button, Checkbox, Popover, Stack } from "@mantine/core";
import { IconColumns } from "@tabler/icons-react";

interface ColumnPickerProps {
  columns: { id: string; label: string }[];
  hidden: readonly string[];
  onChange: (hidden: string[]) => void;
}

/** Menu that selects the visible columns of a table. */
export function ColumnPicker({ columns, hidden, onChange }: ColumnPickerProps) {
  return (
    <Popover position="bottom-end" withinPortal trapFocus>
      <Popover.Target>
        <Button variant="default" size="xs" leftSection={<IconColumns size={14} aria-hidden />}>
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap={6} mah="60vh" style={{ overflowY: "auto" }}>
          {columns.map(({ id, label }) => (
            <Checkbox
              key={id}
              size="xs"
              label={label}
              checked={!hidden.includes(id)}
              onChange={({ currentTarget: { checked } }) =>
                onChange(checked ? hidden.filter((hiddenId) => hiddenId !== id) : [...hidden, id])
              }
            />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
