import { ActionIcon, Anchor, Badge, Button, Drawer, Group, Stack, Text } from "@mantine/core";
import { IconPencil, IconTrash } from "@tabler/icons-react";
import { useMemo, useState } from "react";

import { CopyButton } from "../../ui/copy-button.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import type { Pages } from "../../ui/next-page.tsx";
import { ShortId } from "../../ui/short-id.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { RunValue } from "../traces/run-value.tsx";
import { type Example, readSplits } from "./queries.ts";

const brief = (value: unknown) => {
  const text = value == null ? "–" : JSON.stringify(value);
  return (
    <Text size="xs" ff="monospace" truncate title={text.slice(0, 600)}>
      {text.slice(0, 400)}
    </Text>
  );
};

interface ExamplesTableProps {
  examples: Example[];
  pages: Pages;
  /** Absent where examples are read-only: on shared pages, and in earlier versions. */
  onDelete?: (example: Example) => void;
  onEdit?: (example: Example) => void;
}

/** Table of examples, each shown in full when it is opened. */
export function ExamplesTable({ examples, pages, onDelete, onEdit }: ExamplesTableProps) {
  const [opened, setOpened] = useState<Example | null>(null);
  const columns = useMemo(
    (): Column<Example>[] => [
      {
        id: "inputs",
        header: "Inputs",
        width: "minmax(180px, 2fr)",
        cell: (example) => (
          <Anchor component="button" type="button" miw={0} inherit onClick={() => setOpened(example)}>
            {brief(example.inputs)}
          </Anchor>
        ),
      },
      {
        id: "outputs",
        header: "Reference outputs",
        width: "minmax(180px, 2fr)",
        cell: ({ outputs }) => brief(outputs),
      },
      {
        id: "split",
        header: "Split",
        width: "minmax(90px, 0.6fr)",
        cell: (example) =>
          readSplits(example).map((split) => (
            <Badge key={split} variant="default" size="sm" tt="none" fw={500} style={{ flexShrink: 0 }}>
              {split}
            </Badge>
          )),
      },
      {
        id: "modified_at",
        header: "Updated",
        width: "110px",
        cell: (example) => <TimeText at={example.modified_at} />,
      },
      { id: "id", header: "Example", width: "90px", cell: ({ id }) => <ShortId id={id} /> },
      ...(onDelete
        ? [
            {
              id: "actions",
              header: "",
              width: "48px",
              cell: (example: Example) => (
                <ActionIcon
                  variant="subtle"
                  color="neutral"
                  aria-label={`Delete example ${example.id.slice(-8)}`}
                  onClick={() => onDelete(example)}
                >
                  <IconTrash size={15} />
                </ActionIcon>
              ),
            },
          ]
        : []),
    ],
    [onDelete],
  );
  if (examples.length === 0) {
    return (
      <Empty title="No examples">
        {onDelete && <Text size="sm">Add one with “Add example”, from a trace, or with the SDK.</Text>}
      </Empty>
    );
  }
  return (
    <>
      <DataTable
        label="Examples"
        columns={columns}
        rows={examples}
        rowKey={({ id }) => id}
        onOpen={setOpened}
        pages={pages}
        maxHeight="max(320px, calc(100dvh - 260px))"
      />
      <Drawer
        opened={opened !== null}
        onClose={() => setOpened(null)}
        position="right"
        size="lg"
        title="Example"
        closeButtonProps={{ title: "Close" }}
      >
        {opened && (
          <Stack gap="md">
            <Group gap={4}>
              <Text size="sm" ff="monospace" style={{ overflowWrap: "anywhere" }}>
                {opened.id}
              </Text>
              <CopyButton value={opened.id} label="Copy example ID" />
              {onEdit && (
                <Button
                  size="xs"
                  variant="default"
                  ms="auto"
                  leftSection={<IconPencil size={14} aria-hidden />}
                  onClick={() => {
                    setOpened(null);
                    onEdit(opened);
                  }}
                >
                  Edit
                </Button>
              )}
            </Group>
            <RunValue title="Inputs" value={opened.inputs} />
            <RunValue title="Reference outputs" value={opened.outputs} />
            {opened.metadata && <JsonView value={opened.metadata} label="metadata" />}
          </Stack>
        )}
      </Drawer>
    </>
  );
}
