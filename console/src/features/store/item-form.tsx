import { NumberInput, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";

import { agentApi } from "../../api/clients.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { JsonField } from "../../ui/json-field.tsx";
import { readObject, writeJson } from "../../ui/json-text.ts";
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
  const queryClient = useQueryClient();
  const form = useForm({
    initialValues: {
      path: namespace.join("."),
      key: item?.key ?? "",
      value: writeJson(item?.value ?? {}),
      ttl: "" as number | string,
    },
  });
  const save = async ({ path, key, value, ttl }: typeof form.values) => {
    const target = { namespace: item ? namespace : path.split(".").map((label) => label.trim()), key: key.trim() };
    const body = { ...target, value: readObject(value, "Value"), ...(typeof ttl === "number" && { ttl }) };
    await agentApi(server).PUT("/store/items", { body });
    await queryClient.invalidateQueries({ queryKey: ["agent", server, "store"] });
    onSaved(target);
  };
  return (
    <FormModal
      title={item ? `Edit ${item.key}` : "New item"}
      action="Save"
      form={form}
      onSubmit={save}
      onClose={onClose}
    >
      {!item && (
        <>
          <TextInput
            label="Namespace"
            description="Labels separated by dots: memories.user-1"
            required
            data-autofocus
            {...form.getInputProps("path")}
          />
          <TextInput
            label="Key"
            description="An existing item with this key is overwritten."
            required
            {...form.getInputProps("key")}
          />
        </>
      )}
      <JsonField label="Value" minHeight="10rem" {...form.getInputProps("value")} />
      <NumberInput
        label="TTL, minutes"
        description="Leave empty for the project's store.ttl, if it is set."
        min={0.1}
        max={52_560_000}
        {...form.getInputProps("ttl")}
      />
    </FormModal>
  );
}
