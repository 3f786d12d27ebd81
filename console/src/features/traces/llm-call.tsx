import { Group, Stack, Text } from "@mantine/core";
import { useMemo, useState } from "react";

import { JsonView } from "../../ui/json-view.tsx";
import { Content } from "../../ui/messages/content.tsx";
import { RoleBadge } from "../../ui/status-badge.tsx";
import type { AnyRun } from "../runs/run-record.ts";
import { findMessages } from "./find-messages.ts";
import { callParameters, type OfferedTool, offeredTools } from "./llm-call.ts";
import classes from "./llm-call.module.css";

/** Characters of a parameter that are shown. */
const SHORT = 160;

/** What a model was called with besides its messages: parameters, and the tools that it was offered. */
export function LlmCall({ run }: { run: AnyRun }) {
  const parameters = useMemo(() => callParameters(run), [run]);
  const tools = useMemo(() => offeredTools(run), [run]);
  const called = useMemo(
    () => new Set((findMessages(run.outputs) ?? []).flatMap(({ toolCalls }) => toolCalls.map(({ name }) => name))),
    [run],
  );
  return (
    <>
      {parameters.length > 0 && (
        <Group gap={6} role="list" aria-label="Parameters" mt={6}>
          {parameters.map(([name, value]) => (
            <Text key={name} role="listitem" size="xs" className={classes["parameter"]} title={value}>
              <Text span inherit c="dimmed">
                {name}
              </Text>{" "}
              {value.length > SHORT ? `${value.slice(0, SHORT)}…` : value}
            </Text>
          ))}
        </Group>
      )}
      {tools.length > 0 && (
        <details className={classes["tools"]} aria-label="Tools">
          <summary>
            {tools.length === 1 ? "1 tool" : `${tools.length} tools`}: {tools.map(({ name }) => name).join(", ")}
          </summary>
          <Stack gap="xs" mt={6}>
            {tools.map((tool, index) => (
              <Tool key={`${tool.name} ${index}`} tool={tool} isCalled={called.has(tool.name)} />
            ))}
          </Stack>
        </details>
      )}
    </>
  );
}

function Tool({ tool: { name, description, parameters }, isCalled }: { tool: OfferedTool; isCalled: boolean }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <section aria-label={`Tool ${name}`} className={classes["tool"]}>
      <Group gap={8}>
        <Text size="sm" fw={600} ff="monospace">
          {name}
        </Text>
        {isCalled && <RoleBadge role="info">called</RoleBadge>}
      </Group>
      {description !== null && <Content content={description} />}
      {parameters !== null && (
        <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>Parameters</summary>
          {isOpen && <JsonView value={parameters} label={`parameters of ${name}`} maxHeight="20rem" />}
        </details>
      )}
    </section>
  );
}
