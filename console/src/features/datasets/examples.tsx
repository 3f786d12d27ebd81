import { ActionIcon, Alert, Anchor, Button, Group, Select } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useCallback, useMemo, useState } from "react";

import { traceApi } from "../../api/clients.ts";
import { useConfirm } from "../../ui/confirm.tsx";
import { fullTime } from "../../ui/format.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import type { OneDatasetSearch } from "./dataset-search.ts";
import { type Example, examplesQuery, splitsQuery } from "./queries.ts";
import { ExamplesTable } from "./examples-table.tsx";

const ExampleForm = lazy(async () => ({ default: (await import("./example-form.tsx")).ExampleForm }));

interface ExamplesProps {
  datasetId: string;
  search: OneDatasetSearch;
  onSearch: (changes: Partial<OneDatasetSearch>) => void;
}

/** A dataset's examples, current or as of an earlier version; only current ones can be edited. */
export function Examples({ datasetId, search: { text, split, version }, onSearch }: ExamplesProps) {
  const client = useQueryClient();
  const { confirm, dialog } = useConfirm();
  const [edited, setEdited] = useState<Example | "new" | null>(null);
  const found = useInfiniteQuery(examplesQuery(datasetId, { text, split, version }));
  const { data: splits = [] } = useQuery(splitsQuery(datasetId, version));
  const examples = useMemo(() => found.data?.pages.flat() ?? [], [found.data]);
  const remove = useCallback(
    ({ id }: Example) =>
      confirm({
        title: "Delete this example?",
        body: "It is removed from the latest version. Earlier versions keep it.",
        action: "Delete",
        run: async () => {
          await traceApi.DELETE("/api/v1/examples/{example_id}", { params: { path: { example_id: id } } });
          await client.invalidateQueries({ queryKey: ["dataset", datasetId] });
        },
      }),
    // `confirm` only opens a dialog
    [client, datasetId],
  );
  const isPast = version !== "";
  return (
    <>
      {isPast && (
        <Alert color="warning" mb="sm" py="xs">
          Read-only view of {/^\d{4}-\d\d-/.test(version) ? fullTime(version) : `version “${version}”`}.{" "}
          <Anchor
            component="button"
            type="button"
            size="sm"
            c="var(--mantine-color-text)"
            underline="always"
            onClick={() => onSearch({ version: "" })}
          >
            Back to latest
          </Anchor>
        </Alert>
      )}
      <Group gap="xs" mb="sm">
        <SearchField
          label="Search examples"
          placeholder="Search inputs and outputs"
          initial={text}
          onSearch={(next: string) => onSearch({ text: next })}
        />
        {(splits.length > 0 || split !== "") && (
          <Select
            aria-label="Split"
            placeholder="All splits"
            size="xs"
            w={150}
            data={split === "" || splits.includes(split) ? splits : [...splits, split]}
            value={split === "" ? null : split}
            onChange={(next) => onSearch({ split: next ?? "" })}
            rightSection={
              split !== "" && (
                <ActionIcon variant="subtle" size="xs" aria-label="All splits" onClick={() => onSearch({ split: "" })}>
                  <IconX size={12} />
                </ActionIcon>
              )
            }
          />
        )}
        {!isPast && (
          <Button
            size="xs"
            variant="default"
            ms="auto"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => setEdited("new")}
          >
            Add example
          </Button>
        )}
      </Group>
      <LoadState query={found} rows={8} />
      {found.data && (
        <ExamplesTable examples={examples} {...(!isPast && { onDelete: remove, onEdit: setEdited })} pages={found} />
      )}
      {edited !== null && (
        <Suspense>
          <ExampleForm
            datasetId={datasetId}
            example={edited === "new" ? null : edited}
            splits={splits}
            onClose={() => setEdited(null)}
          />
        </Suspense>
      )}
      {dialog}
    </>
  );
}
