import { Stack, Table, Text } from "@mantine/core";
import type { ReactNode } from "react";

import { count } from "../../ui/format.ts";
import type { FewShot, PromptMessage } from "./manifest.ts";
import { TemplateText } from "./template-text.tsx";

/** Number of rendered examples; the total is shown. */
const SHOWN = 100;

interface FewShotViewProps {
  fewShot: FewShot;
  renderMessage: (message: PromptMessage, index: number) => ReactNode;
}

/** Examples of a few-shot prompt as a table, between its prefix and its suffix. */
export function FewShotView({ fewShot, renderMessage }: FewShotViewProps) {
  const { examples, prefix, suffix, format, exampleText, exampleMessages, hasSelector } = fewShot;
  const names = [...new Set(examples.flatMap((example) => Object.keys(example)))];
  return (
    <Stack gap="sm">
      {prefix !== "" && (
        <Part title="Prefix">
          <TemplateText text={prefix} format={format} />
        </Part>
      )}
      <Part title={`Examples (${count(examples.length)})`}>
        {hasSelector && (
          <Text size="sm" c="dimmed">
            The examples are selected by the application.
          </Text>
        )}
        {examples.length > 0 && (
          <Table.ScrollContainer minWidth={320} type="native" tabIndex={0} role="region" aria-label="Examples">
            <Table withTableBorder withColumnBorders verticalSpacing={4} aria-label="Examples">
              <Table.Thead>
                <Table.Tr>
                  {names.map((name) => (
                    <Table.Th key={name}>{name}</Table.Th>
                  ))}
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {examples.slice(0, SHOWN).map((example, index) => (
                  <Table.Tr key={index}>
                    {names.map((name) => (
                      <Table.Td key={name} style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
                        {cellText(example[name])}
                      </Table.Td>
                    ))}
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        )}
        {examples.length > SHOWN && (
          <Text size="sm" c="dimmed" mt={4}>
            {count(examples.length - SHOWN)} more examples not shown.
          </Text>
        )}
      </Part>
      {exampleText !== null && (
        <Part title="Template of an example">
          <TemplateText text={exampleText} format={format} />
        </Part>
      )}
      {exampleMessages.length > 0 && (
        <Part title="Messages of an example">
          <Stack gap="xs">{exampleMessages.map(renderMessage)}</Stack>
        </Part>
      )}
      {suffix !== "" && (
        <Part title="Suffix">
          <TemplateText text={suffix} format={format} />
        </Part>
      )}
    </Stack>
  );
}

const cellText = (value: unknown): string =>
  value === undefined ? "–" : typeof value === "string" ? value : JSON.stringify(value);

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <Text size="xs" fw={600} c="dimmed" mb={2}>
        {title}
      </Text>
      {children}
    </div>
  );
}
