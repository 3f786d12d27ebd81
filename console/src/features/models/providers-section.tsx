import { Code, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { CopyButton } from "../../ui/copy-button.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { type Provider, providersQuery, secretNamesQuery } from "./queries.ts";
import { Section } from "../../ui/section.tsx";

/** Table of the providers: whether their package is installed, and which secrets they need. */
export function ProvidersSection() {
  const { data: providers, error, refetch } = useQuery(providersQuery);
  const { data: secrets } = useQuery(secretNamesQuery);
  const known = new Set((secrets ?? []).map(({ key }) => key));
  return (
    <Section
      title="Providers"
      about="Without a connection, a call uses a provider's public address and its default key."
    >
      <LoadState query={{ data: providers, error, refetch }} rows={6} />
      {providers && (
        <SimpleTable
          label="Providers"
          rows={providers}
          rowKey={({ id }) => id}
          minWidth={760}
          columns={[
            { title: "Provider", cell: ({ name }) => <Text size="sm">{name}</Text>, width: 190 },
            { title: "Package", cell: (provider) => <Package provider={provider} /> },
            {
              title: "Default keys",
              cell: ({ secrets: needed }) => (
                <>
                  {needed.length === 0 && (
                    <Text size="sm" c="dimmed">
                      none
                    </Text>
                  )}
                  {needed.map(({ key, required }) => (
                    <Text key={key} size="xs" c={known.has(key) ? undefined : "dimmed"}>
                      <Code>{key}</Code> {known.has(key) ? "set" : required ? "not set" : "not set (optional)"}
                    </Text>
                  ))}
                </>
              ),
            },
          ]}
        />
      )}
    </Section>
  );
}

function Package({ provider: { package: name, installed, install_command: command } }: { provider: Provider }) {
  if (installed) {
    return (
      <Group gap={6}>
        <Text size="sm" ff="monospace">
          {name}
        </Text>
        <StatusBadge status="ready" />
      </Group>
    );
  }
  return (
    <>
      <Text size="sm">Not installed. Run this on the server, and restart it:</Text>
      <Group gap={4} wrap="nowrap">
        <Code style={{ overflowWrap: "anywhere" }}>{command}</Code>
        <CopyButton value={command} label={`Copy command for ${name}`} />
      </Group>
    </>
  );
}
