import { Button, Group } from "@mantine/core";
import { IconPencil, IconTrash } from "@tabler/icons-react";

/** The last cell of a row that can be edited and deleted. */
export function EditAndDelete({ onEdit, onDelete }: { onEdit: () => void; onDelete: () => void }) {
  return (
    <Group gap={6} justify="flex-end">
      <Button size="compact-xs" variant="default" leftSection={<IconPencil size={12} aria-hidden />} onClick={onEdit}>
        Edit
      </Button>
      <Button size="compact-xs" variant="default" leftSection={<IconTrash size={12} aria-hidden />} onClick={onDelete}>
        Delete
      </Button>
    </Group>
  );
}
