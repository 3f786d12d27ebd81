import { Drawer, Group, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { agentApi } from "../../api/clients.ts";
import { EditAndDelete } from "../../ui/edit-and-delete.tsx";
import { useConfirm } from "../../ui/confirm.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { useFocusBack } from "../../ui/use-focus-back.ts";
import { ItemForm } from "./item-form.tsx";
import { itemQuery } from "./queries.ts";

interface ItemDetailsProps {
  server: string;
  namespace: string[];
  itemKey: string;
  onClose: () => void;
}

export function ItemDetails({ server, namespace, itemKey: key, onClose }: ItemDetailsProps) {
  useFocusBack();
  const { data: item, error, refetch } = useQuery(itemQuery(server, namespace, key));
  const queryClient = useQueryClient();
  const { confirm, dialog } = useConfirm();
  const [isEditing, setEditing] = useState(false);
  const remove = () =>
    confirm({
      title: `Delete ${key}?`,
      body: "Graphs can no longer read this item.",
      action: "Delete",
      async run() {
        await agentApi(server).DELETE("/store/items", { body: { namespace, key } });
        onClose();
        await queryClient.invalidateQueries({ queryKey: ["agent", server, "store"] });
      },
    });
  return (
    <Drawer opened onClose={onClose} position="right" size="lg" title={key} closeButtonProps={{ title: "Close" }}>
      <LoadState query={{ data: item, error, refetch }} />
      {item && (
        <Stack gap="sm">
          <Group justify="space-between">
            <Group gap={2}>
              <Text size="sm" c="dimmed">
                {namespace.join(" › ")}
              </Text>
              <CopyButton value={JSON.stringify(namespace)} label="Copy namespace" />
            </Group>
            <EditAndDelete size="xs" onEdit={() => setEditing(true)} onDelete={remove} />
          </Group>
          <Text size="sm" c="dimmed">
            Created <TimeText at={item.created_at} />, updated <TimeText at={item.updated_at} />
          </Text>
          <JsonView value={item.value} label="Value" maxHeight="70vh" />
        </Stack>
      )}
      {isEditing && item && (
        <ItemForm
          server={server}
          namespace={namespace}
          item={item}
          onClose={() => setEditing(false)}
          onSaved={() => setEditing(false)}
        />
      )}
      {dialog}
    </Drawer>
  );
}
