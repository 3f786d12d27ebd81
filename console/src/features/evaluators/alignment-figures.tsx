import { Group, Table, Text } from "@mantine/core";

import type { Alignment, Checked } from "./queries.ts";

type Figures =
  | Pick<Alignment["keys"][number], "items" | "accuracy" | "kappa" | "mean_absolute_error" | "confusion">
  | Checked;

const percent = (share: number | null): string => (share === null ? "–" : `${Math.round(share * 100)} %`);
const decimal = (value: number | null): string => (value === null ? "–" : value.toFixed(2));

/** Accuracy, kappa and error of a judge. */
export function AlignmentFigures({ alignment }: { alignment: Figures }) {
  const { items, accuracy, kappa, mean_absolute_error: error } = alignment;
  const figures = [
    ["Compared", String(items)],
    ["Accuracy", percent(accuracy)],
    ["Kappa", decimal(kappa)],
    ["Mean error", decimal(error)],
  ];
  return (
    <Group gap="md">
      {figures.map(([title, value]) => (
        <div key={title}>
          <Text size="xs" c="dimmed">
            {title}
          </Text>
          <Text size="sm" fw={600}>
            {value}
          </Text>
        </div>
      ))}
    </Group>
  );
}

/** Counts by the judge's answer (rows) and the person's (columns). */
export function ConfusionMatrix({ confusion }: { confusion: NonNullable<Alignment["keys"][number]["confusion"]> }) {
  const { categories, counts } = confusion;
  return (
    <div style={{ overflowX: "auto" }} tabIndex={0} role="region" aria-label="Confusion matrix">
      <Table w="auto" withTableBorder withColumnBorders>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>
              <Text size="xs" c="dimmed">
                Judge ↓ Person →
              </Text>
            </Table.Th>
            {categories.map((category) => (
              <Table.Th key={category}>{category}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {categories.map((category, row) => (
            <Table.Tr key={category}>
              <Table.Th scope="row">{category}</Table.Th>
              {categories.map((other, column) => (
                <Table.Td key={other} ta="end" fw={row === column ? 600 : undefined}>
                  {counts[row]![column]}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
