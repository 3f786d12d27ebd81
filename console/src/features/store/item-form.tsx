import { Alert, Button, Group, Modal, NumberInput, Stack, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { agentApi } from "../../api/clients.ts";
import { JsonField, readObject, writeJson } from "../../ui/json-field.tsx";
import { useFocusBack } from "../../ui/use-focus-back.ts";
import type { Item } from "./queries.ts";

interface ItemFormProps {
  server: string;
  namespace: string[];
  /** Absent for a new one. */
  item?: Item;
  onClose: () => void;
  onSaved: (item: { namespace: string[]; key: string }) => void;
}

export function ItemForm({ server, namespace, item, onClose, onSaved }: ItemFormProps) {
  useFocusBack();
  const queryClient = useQueryClient();
  const [path, setPath] = useState(namespace.join("."));
  const [key, setKey] = useState(item?.key ?? "");
  const [value, setValue] = useState(writeJson(item?.value ?? {}));
  const [ttl, setTtl] = useState<number | string>("");
  const save = useMutation({
    async mutationFn() {
      const target = { namespace: item ? namespace : path.split(".").map((label) => label.trim()), key: key.trim() };
      const body = { ...target, value: readObject(value, "Value"), ...(typeof ttl === "number" && { ttl }) };
      await agentApi(server).PUT("/store/items", { body });
      return target;
    },
    async onSuccess(saved) {
      await queryClient.invalidateQueries({ queryKey: ["agent", server, "store"] });
      onSaved(saved);
    },
  });
  return (
    <Modal
      opened
      onClose={onClose}
      title={item ? `Edit ${item.key}` : "New item"}
      size="lg"
      closeButtonProps={{ title: "Close" }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack gap="sm">
          {!item && (
            <>
              <TextInput
                label="Namespace"
                description="Labels separated by dots: memories.user-1"
                value={path}
                onChange={(event) => setPath(event.currentTarget.value)}
                required
                data-autofocus
              />
              <TextInput
                label="Key"
                description="An existing item with this key is overwritten."
                value={key}
                onChange={(event) => setKey(event.currentTarget.value)}
                required
              />
            </>
          )}
          <JsonField label="Value" value={value} onChange={setValue} minHeight="10rem" />
          <NumberInput
            label="TTL, minutes"
            description="Leave empty for the project's store.ttl, if it is set."
            value={ttl}
            onChange={setTtl}
            min={0.1}
            max={52_560_000}
          />
          {save.error && (
            <Alert color="red" role="alert">
              {save.error.message}
            </Alert>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
