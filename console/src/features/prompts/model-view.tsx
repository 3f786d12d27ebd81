import { Code, Group, Stack, Text } from "@mantine/core";

import { LazyJson } from "../../ui/lazy-json.tsx";
import type { Model } from "./manifest.ts";

/** Model of a prompt: its name, parameters, tools, and the names of its secrets, which a manifest never contains. */
export function ModelView({ model }: { model: Model }) {
  const parameters = Object.entries({ ...model.parameters, ...model.bound });
  return (
    <Stack gap={4}>
      <Text size="sm" fw={500} style={{ overflowWrap: "anywhere" }}>
        {model.model ?? model.name}
        {model.model !== null && (
          <Text span inherit c="dimmed" fw={400}>
            {" "}
            {model.name}
          </Text>
        )}
      </Text>
      {parameters.map(([name, value]) => (
        <Group key={name} gap={6} wrap="nowrap" align="flex-start">
          <Text size="xs" c="dimmed" w={110} style={{ flexShrink: 0, overflowWrap: "anywhere" }}>
            {name}
          </Text>
          <Code style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>
            {typeof value === "string" ? value : JSON.stringify(value)}
          </Code>
        </Group>
      ))}
      {model.secrets.length > 0 && (
        <Text size="xs" c="dimmed">
          Reads {model.secrets.join(", ")} where it runs.
        </Text>
      )}
      {model.tools.length > 0 && (
        <details>
          <summary style={{ cursor: "pointer", fontSize: "var(--mantine-font-size-sm)" }}>
            {model.tools.length === 1 ? "1 tool" : `${model.tools.length} tools`}:{" "}
            {model.tools.map(toolName).join(", ")}
          </summary>
          <LazyJson value={model.tools} label="tools" />
        </details>
      )}
    </Stack>
  );
}

function toolName(tool: unknown): string {
  const { name, function: inner } = (tool ?? {}) as { name?: unknown; function?: { name?: unknown } };
  const found = inner?.name ?? name;
  return typeof found === "string" ? found : "unnamed";
}
