import { Checkbox, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { rolesQuery } from "./queries.ts";
import { formatRole } from "./workspaces.tsx";

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
  const [description, setDescription] = useState("");
  const [days, setDays] = useState("90");
  const [isReadOnly, setOnlyReads] = useState(false);
  const [role, setRole] = useState<string | null>(null);
  const create = async () => {
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
      isReady={description.trim() !== ""}
      onSubmit={create}
      onClose={onClose}
    >
      <TextInput
        label="Description"
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
        required
        data-autofocus
      />
      <Select
        label="Expires"
        data={LIFETIMES}
        value={days}
        onChange={(value) => setDays(value ?? "")}
        allowDeselect={false}
      />
      {kind === "service" && (
        <Select
          label="Role"
          placeholder="Workspace admin"
          data={roles
            .filter(({ access_scope: scope }) => scope === "workspace")
            .map(({ id, display_name: label }) => ({ value: id, label: formatRole(label) }))}
          value={role}
          onChange={setRole}
          clearable
        />
      )}
      <Checkbox
        label="Read-only"
        checked={isReadOnly}
        onChange={(event) => setOnlyReads(event.currentTarget.checked)}
      />
    </FormModal>
  );
}
