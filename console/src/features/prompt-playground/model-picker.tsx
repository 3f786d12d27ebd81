import { Autocomplete, Button, Group, Popover, Select, Stack, Text, TextInput } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";

import { traceApi } from "../../api/clients.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import type { JsonSchema } from "../../ui/schema-form/schema.ts";
import type { ModelChoice } from "./draft.ts";
import {
  type Connection,
  connectionModelsQuery,
  connectionsQuery,
  type Provider,
  providersQuery,
  savedModelsQuery,
} from "../models/queries.ts";
import { readSavedModel } from "../models/saved-model.ts";

const SchemaForm = lazy(async () => ({ default: (await import("../../ui/schema-form/schema-form.tsx")).SchemaForm }));

interface ModelPickerProps {
  /** Letter of the column. */
  letter: string;
  model: ModelChoice;
  onChange: (model: ModelChoice) => void;
}

/** Model of a column: its connection, its name and its parameters, or a saved configuration. */
export function ModelPicker({ letter, model, onChange }: ModelPickerProps) {
  const [isOpen, setOpen] = useState(false);
  const { data: connections = [] } = useQuery(connectionsQuery);
  const connection = connections.find(({ id }) => id === model.connectionId);
  const from = connection?.name ?? model.provider ?? "";
  return (
    <Popover
      opened={isOpen}
      onChange={setOpen}
      width={320}
      position="bottom-start"
      trapFocus
      returnFocus
      closeOnClickOutside
      shadow="md"
    >
      <Popover.Target>
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Model of ${letter}: ${model.model || "none"}`}
          rightSection={<IconChevronDown size={12} aria-hidden />}
          onClick={() => setOpen(!isOpen)}
          styles={{ label: { overflow: "hidden", textOverflow: "ellipsis" } }}
          style={{ minWidth: 0, flexShrink: 1 }}
        >
          {model.model === "" ? "Select a model" : `${model.model}${from === "" ? "" : ` · ${from}`}`}
        </Button>
      </Popover.Target>
      <Popover.Dropdown p="sm">
        <ModelFields model={model} connection={connection} connections={connections} onChange={onChange} />
      </Popover.Dropdown>
    </Popover>
  );
}

interface ModelFieldsProps {
  model: ModelChoice;
  connection: Connection | undefined;
  connections: Connection[];
  onChange: (model: ModelChoice) => void;
}

/** Prefix of the values that name a provider with its default key instead of a connection. */
const PROVIDER = "provider:";

function ModelFields({ model, connection, connections, onChange }: ModelFieldsProps) {
  const { data: providers = [] } = useQuery(providersQuery);
  const { data: saved = [] } = useQuery(savedModelsQuery);
  const provider = providers.find(({ id }) => id === (connection?.provider ?? model.provider));
  const listed = useQuery({
    ...connectionModelsQuery(connection?.id ?? ""),
    enabled: connection?.ready === true && provider?.supports.list_models === true,
  });
  const suggestions = [
    ...new Set([
      connection?.default_model ?? "",
      ...(listed.data?.models.map(({ id }) => id) ?? []),
      ...(provider?.models ?? []),
    ]),
  ].filter((name) => name !== "");
  const choose = (value: string | null) => {
    if (value === null) return;
    const chosen = connections.find(({ id }) => id === value);
    const isSame = chosen?.provider === provider?.id;
    onChange({
      ...model,
      connectionId: chosen?.id ?? null,
      provider: chosen ? null : value.slice(PROVIDER.length),
      model: chosen?.default_model ?? (isSame ? model.model : ""),
      // another provider has other parameters
      parameters: isSame ? model.parameters : {},
    });
  };
  const hasConnection = model.connectionId !== null || model.provider !== null;
  const usable = saved.flatMap((entry) => readSavedModel(entry) ?? []);
  return (
    <Stack gap="xs">
      {usable.length > 0 && (
        <Select
          size="xs"
          label="Saved configuration"
          placeholder="None"
          data={usable.map(({ id, name }) => ({ value: id, label: name }))}
          value={null}
          comboboxProps={{ withinPortal: false }}
          onChange={(id) => {
            const found = usable.find((entry) => entry.id === id);
            if (found) onChange(found.model);
          }}
        />
      )}
      <Select
        size="xs"
        label="Connection"
        placeholder="Select a connection"
        allowDeselect={false}
        comboboxProps={{ withinPortal: false }}
        data={connectionOptions(connections, providers)}
        value={model.connectionId ?? (model.provider === null ? null : `${PROVIDER}${model.provider}`)}
        onChange={choose}
      />
      <ConnectionProblem connection={connection} provider={provider} />
      <Autocomplete
        size="xs"
        label="Model"
        placeholder="Name of the model"
        {...(hasConnection && { "data-autofocus": true })}
        // typing replaces the name
        onFocus={({ currentTarget }) => currentTarget.select()}
        comboboxProps={{ withinPortal: false }}
        data={suggestions}
        limit={50}
        maxDropdownHeight={200}
        value={model.model}
        onChange={(name) => onChange({ ...model, model: name })}
      />
      {provider && (
        <div role="group" aria-label="Parameters" style={{ maxHeight: "40vh", overflowY: "auto" }}>
          <Suspense>
            <SchemaForm
              schema={provider.parameters as JsonSchema}
              value={model.parameters}
              onChange={(parameters) => onChange({ ...model, parameters })}
            />
          </Suspense>
        </div>
      )}
      <SaveConfiguration model={model} />
    </Stack>
  );
}

function connectionOptions(connections: Connection[], providers: Provider[]) {
  const own = connections.map(({ id, name, ready }) => ({ value: id, label: ready ? name : `${name} (not ready)` }));
  const byDefault = providers.map(({ id, name }) => ({ value: `${PROVIDER}${id}`, label: name }));
  return [
    ...(own.length > 0 ? [{ group: "Connections", items: own }] : []),
    { group: "Providers with their default keys", items: byDefault },
  ];
}

function ConnectionProblem({
  connection,
  provider,
}: {
  connection: Connection | undefined;
  provider: Provider | undefined;
}) {
  const problem =
    connection?.problem ??
    (provider?.installed === false ? `${provider.name} needs: ${provider.install_command}` : null);
  return (
    <Text size="xs" c={problem === null ? "dimmed" : "var(--heddle-danger)"}>
      {problem !== null && <>{problem} </>}
      <AnchorLink to="/settings" search={{ tab: "models" }} size="xs">
        Manage connections
      </AnchorLink>
    </Text>
  );
}

/** Saves the choice under a name, for the workspace. */
function SaveConfiguration({ model }: { model: ModelChoice }) {
  const client = useQueryClient();
  const [name, setName] = useState<string | null>(null);
  const save = useMutation({
    mutationFn: async () => {
      const { connectionId, provider, model: id, parameters } = model;
      const by = connectionId === null ? { provider } : { connection_id: connectionId };
      const body = { name: name!.trim(), settings: { ...by, model: id, parameters } };
      await traceApi.POST("/api/v1/playground-settings", { body: body as never });
      await client.invalidateQueries({ queryKey: savedModelsQuery.queryKey });
    },
    onSuccess: () => setName(null),
    onError: notifyFailure("Could not save the configuration"),
  });
  if (name === null) {
    return (
      <Group>
        <Button
          size="compact-xs"
          variant="subtle"
          color="neutral"
          disabled={model.model === ""}
          onClick={() => setName("")}
        >
          Save configuration
        </Button>
      </Group>
    );
  }
  return (
    <Group gap={4} wrap="nowrap" align="flex-end">
      <TextInput
        size="xs"
        label="Name of the configuration"
        data-autofocus
        autoFocus
        style={{ flex: 1 }}
        value={name}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || name.trim() === "") return;
          event.preventDefault();
          save.mutate();
        }}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <Button size="xs" loading={save.isPending} disabled={name.trim() === ""} onClick={() => save.mutate()}>
        Save
      </Button>
    </Group>
  );
}
