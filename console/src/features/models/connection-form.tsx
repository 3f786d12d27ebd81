import { Autocomplete, Code, Fieldset, PasswordInput, Select, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery, useQueryClient } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { FormModal } from "../../ui/form-modal.tsx";
import { type Connection, type Provider, providersQuery, secretNamesQuery } from "./queries.ts";

interface ConnectionFormProps {
  /** Null for a new one. */
  connection: Connection | null;
  onClose: () => void;
}

/** Form of a connection. Values of secrets are sent and never read: an empty field keeps the stored value. */
export function ConnectionForm({ connection, onClose }: ConnectionFormProps) {
  const client = useQueryClient();
  const { data: providers = [] } = useQuery(providersQuery);
  const { data: stored = [] } = useQuery(secretNamesQuery);
  const form = useForm({
    initialValues: {
      name: connection?.name ?? "",
      provider: connection?.provider ?? ("openai" as string),
      model: connection?.default_model ?? "",
      embedding: connection?.embedding_model ?? "",
      settings: { ...connection?.settings } as Record<string, string>,
      keys: { ...connection?.secrets } as Record<string, string>,
      values: {} as Record<string, string>,
    },
  });
  const provider = providers.find(({ id }) => id === form.values.provider);
  const known = new Set(stored.map(({ key }) => key));
  const save = async ({ name, provider: id, model, embedding, settings, keys, values }: typeof form.values) => {
    const used = usedSecrets(provider!, keys, values, known, connection);
    const changed = Object.entries(used).flatMap(([secret, key]) =>
      values[secret] ? [{ key, value: values[secret] }] : [],
    );
    if (changed.length > 0) await traceApi.POST("/api/v1/workspaces/current/secrets", { body: changed });
    const body = {
      name: name.trim(),
      settings: Object.fromEntries(Object.entries(settings).filter(([, value]) => value.trim() !== "")),
      secrets: used,
      default_model: model.trim() || null,
      embedding_model: embedding.trim() || null,
    };
    if (connection) {
      const params = { path: { connection_id: connection.id } };
      await data(traceApi.PATCH("/api/v1/models/connections/{connection_id}", { params, body }));
    } else {
      await data(traceApi.POST("/api/v1/models/connections", { body: { ...body, provider: id as "openai" } }));
    }
    await client.invalidateQueries({ queryKey: ["models"] });
    onClose();
  };
  return (
    <FormModal
      title={connection ? `Edit ${connection.name}` : "New connection"}
      action={connection ? "Save" : "Create"}
      size="md"
      failure="Could not save the connection"
      form={form}
      isReady={form.values.name.trim() !== "" && provider !== undefined}
      onSubmit={save}
      onClose={onClose}
    >
      <TextInput label="Name" required data-autofocus {...form.getInputProps("name")} />
      <Select
        label="Provider"
        allowDeselect={false}
        disabled={connection !== null}
        comboboxProps={{ withinPortal: false }}
        data={providers.map(({ id, name }) => ({ value: id, label: name }))}
        {...form.getInputProps("provider")}
        onChange={(id) => id !== null && form.setValues({ provider: id, settings: {}, keys: {}, values: {} })}
      />
      {provider && !provider.installed && <MissingPackage provider={provider} />}
      {provider?.settings.map(({ name, description, required, default: byDefault }) => (
        <TextInput
          key={name}
          label={settingName(name)}
          description={description}
          required={required}
          placeholder={byDefault ?? ""}
          autoComplete="off"
          value={form.values.settings[name] ?? ""}
          onChange={({ currentTarget }) => form.setFieldValue(`settings.${name}`, currentTarget.value)}
        />
      ))}
      {provider?.secrets.map(({ name, key, description, required }) => {
        const storedAs = form.values.keys[name] ?? key;
        return (
          <Fieldset key={name} legend={settingName(name)} p="xs">
            <Stack gap="xs">
              <PasswordInput
                label={description}
                required={required && !known.has(storedAs)}
                placeholder={known.has(storedAs) ? "Stored. Leave empty to keep it" : ""}
                autoComplete="new-password"
                value={form.values.values[name] ?? ""}
                onChange={({ currentTarget }) => form.setFieldValue(`values.${name}`, currentTarget.value)}
              />
              <TextInput
                size="xs"
                label="Name of the workspace secret"
                description={
                  known.has(storedAs) && form.values.values[name]
                    ? "Replaces the stored value, also for other connections that use it."
                    : undefined
                }
                autoComplete="off"
                value={storedAs}
                onChange={({ currentTarget }) => form.setFieldValue(`keys.${name}`, currentTarget.value)}
              />
            </Stack>
          </Fieldset>
        );
      })}
      <Autocomplete
        label="Default model"
        comboboxProps={{ withinPortal: false }}
        data={provider?.models ?? []}
        {...form.getInputProps("model")}
      />
      {provider?.supports["embeddings"] && (
        <Autocomplete
          label="Embedding model"
          description="For insights, which group similar runs."
          comboboxProps={{ withinPortal: false }}
          placeholder={provider.embedding_models[0] ?? ""}
          data={provider.embedding_models}
          {...form.getInputProps("embedding")}
        />
      )}
    </FormModal>
  );
}

/** Returns the secrets that the connection names: those with a value, and required ones. */
function usedSecrets(
  provider: Provider,
  keys: Record<string, string>,
  values: Record<string, string>,
  known: ReadonlySet<string>,
  connection: Connection | null,
): Record<string, string> {
  const used = provider.secrets.flatMap(({ name, key, required }) => {
    const storedAs = keys[name]?.trim() || key;
    const isUsed = required || values[name] || connection?.secrets[name] !== undefined || known.has(storedAs);
    return isUsed ? [[name, storedAs] as const] : [];
  });
  return Object.fromEntries(used);
}

const settingName = (name: string): string => {
  const text = name.replaceAll("_", " ").replace(/\b(url|api|id)\b/g, (word) => word.toUpperCase());
  return text[0]!.toUpperCase() + text.slice(1);
};

function MissingPackage({ provider: { package: name, install_command: command } }: { provider: Provider }) {
  return (
    <Text size="sm" component="div" role="status">
      {name} is not installed. Run <Code>{command}</Code> <CopyButton value={command} label="Copy command" /> on the
      server, and restart it.
    </Text>
  );
}
