import { Badge, Button, Group, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconEye, IconGitCompare, IconTag } from "@tabler/icons-react";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { traceApi } from "../../api/clients.ts";
import { Empty } from "../../ui/empty.tsx";
import { fullTime } from "../../ui/format.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { LoadedList } from "../../ui/load-state.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { type Version, versionsQuery } from "./queries.ts";
import { VersionChanges } from "./version-changes.tsx";

/** Each change creates a version; a tag names one for use by evaluations. */
export function Versions({ datasetId, onOpen }: { datasetId: string; onOpen: (asOf: string) => void }) {
  const found = useInfiniteQuery(versionsQuery(datasetId));
  const [tagged, setTagged] = useState<Version | null>(null);
  const [compared, setCompared] = useState<Version | null>(null);
  const rows = found.data?.pages.flat() ?? [];
  const actions = (version: Version) => (
    <Group gap={6} justify="flex-end">
      <Button
        size="compact-xs"
        variant="default"
        leftSection={<IconEye size={12} aria-hidden />}
        onClick={() => onOpen(version.as_of)}
      >
        Examples
      </Button>
      <Button
        size="compact-xs"
        variant="default"
        leftSection={<IconGitCompare size={12} aria-hidden />}
        onClick={() => setCompared(version)}
      >
        View changes
      </Button>
      <Button
        size="compact-xs"
        variant="default"
        leftSection={<IconTag size={12} aria-hidden />}
        onClick={() => setTagged(version)}
      >
        Add tag
      </Button>
    </Group>
  );
  return (
    <>
      <LoadedList
        query={found}
        rows={6}
        list={rows}
        empty={<Empty title="No versions yet">Adding an example creates the first one.</Empty>}
      >
        <SimpleTable
          label="Versions"
          rows={rows}
          rowKey={({ as_of: at }) => at}
          minWidth={700}
          columns={[
            // relative times of versions within one minute would look alike ("1 min ago")
            { title: "Version", cell: ({ as_of: at }) => <Text size="sm">{fullTime(at)}</Text>, width: 220 },
            {
              title: "Tags",
              cell: ({ tags }) => (
                <Group gap={6}>
                  {tags.map((tag) => (
                    <Badge key={tag} size="sm" variant={tag === "latest" ? "default" : "light"} tt="none">
                      {tag}
                    </Badge>
                  ))}
                </Group>
              ),
            },
            { title: "", cell: actions, width: 330 },
          ]}
          pages={found}
        />
      </LoadedList>
      {compared && (
        <VersionChanges
          datasetId={datasetId}
          version={compared.as_of}
          before={rows[rows.indexOf(compared) + 1]?.as_of ?? null}
          onClose={() => setCompared(null)}
        />
      )}
      {tagged && <TagForm datasetId={datasetId} version={tagged} onClose={() => setTagged(null)} />}
    </>
  );
}

interface TagFormProps {
  datasetId: string;
  version: Version;
  onClose: () => void;
}

function TagForm({ datasetId, version, onClose }: TagFormProps) {
  const client = useQueryClient();
  const form = useForm({ initialValues: { tag: "" } });
  const put = async ({ tag }: typeof form.values) => {
    await traceApi.PUT("/api/v1/datasets/{dataset_id}/tags", {
      params: { path: { dataset_id: datasetId } },
      body: { as_of: version.as_of, tag: tag.trim() },
    });
    await client.invalidateQueries({ queryKey: ["dataset", datasetId] });
    onClose();
  };
  return (
    <FormModal
      title="Add tag"
      action="Add tag"
      form={form}
      isReady={form.values.tag.trim() !== ""}
      onSubmit={put}
      onClose={onClose}
    >
      <TextInput
        label="Tag"
        description="If another version has this tag, the tag moves here."
        placeholder="prod"
        required
        data-autofocus
        {...form.getInputProps("tag")}
      />
    </FormModal>
  );
}
