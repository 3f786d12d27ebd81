import { Button, Group } from "@mantine/core";
import { IconPencil, IconTrash } from "@tabler/icons-react";

interface EditAndDeleteProps {
  onEdit: () => void;
  onDelete: () => void;
  /** Default: that of a row. */
  size?: "compact-xs" | "xs";
}

/** Buttons of a thing that can be edited and deleted. */
export function EditAndDelete({ onEdit, onDelete, size = "compact-xs" }: EditAndDeleteProps) {
  const icon = { size: size === "xs" ? 14 : 12, "aria-hidden": true } as const;
  return (
    <Group gap={size === "xs" ? "xs" : 6} justify="flex-end">
      <Button size={size} variant="default" leftSection={<IconPencil {...icon} />} onClick={onEdit}>
        Edit
      </Button>
      <Button size={size} variant="default" leftSection={<IconTrash {...icon} />} onClick={onDelete}>
        Delete
      </Button>
    </Group>
  );
}
