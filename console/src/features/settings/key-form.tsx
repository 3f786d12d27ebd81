import { Checkbox, Select, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { rolesQuery } from "./queries.ts";
import { roleOptions } from "./workspaces.tsx";

interface KeyFormProps {
  kind: "service" | "personal";
  onClose: () => void;
  onCreated: (key: string) => Promise<void>;
}

const DAY_MS = 86_400_000;
const LIFETIMES = [
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "1 year" },
  { value: "", label: "never" },
];

export function KeyForm({ kind, onClose, onCreated }: KeyFormProps) {
  const { data: roles = [] } = useQuery(rolesQuery);
  const form = useForm({
    initialValues: { description: "", days: "90", role: null as string | null, isReadOnly: false },
  });
  const create = async ({ description, days, role, isReadOnly }: typeof form.values) => {
    const body = {
      description: description.trim(),
      read_only: isReadOnly,
      ...(days !== "" && { expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }),
      ...(role !== null && { role_id: role }),
    };
    const created =
      kind === "service"
        ? await data(traceApi.POST("/api/v1/api-key", { body }))
        : await data(traceApi.POST("/api/v1/api-key/current", { body }));
    await onCreated(created.key);
  };
  return (
    <FormModal
      title={kind === "service" ? "New service key" : "New personal key"}
      action="Create key"
      form={form}
      isReady={form.values.description.trim() !== ""}
      onSubmit={create}
      onClose={onClose}
    >
      <TextInput label="Description" required data-autofocus {...form.getInputProps("description")} />
      <Select label="Expires" data={LIFETIMES} allowDeselect={false} {...form.getInputProps("days")} />
      {kind === "service" && (
        <Select
          label="Role"
          placeholder="Workspace admin"
          data={roleOptions(roles, "workspace")}
          clearable
          {...form.getInputProps("role")}
        />
      )}
      <Checkbox label="Read-only" {...form.getInputProps("isReadOnly", { type: "checkbox" })} />
    </FormModal>
  );
}
