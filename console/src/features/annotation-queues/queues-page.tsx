import { Button, Text, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconPlus, IconSearch } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";

import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { count } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadedList } from "../../ui/load-state.tsx";
import { Page } from "../../ui/page.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { useNewForm } from "../../ui/use-new-form.ts";
import { type Queue, queuesQuery } from "./queries.ts";
import { QueueForm } from "./queue-form.tsx";

const COLUMNS: Column<Queue>[] = [
  {
    id: "name",
    header: "Name",
    width: "minmax(180px, 1.4fr)",
    cell: ({ id, name }) => (
      <AnchorLink to="/annotation-queues/$queueId" params={{ queueId: id }} size="sm" truncate>
        {name}
      </AnchorLink>
    ),
  },
  {
    id: "description",
    header: "Description",
    width: "minmax(160px, 2fr)",
    cell: ({ description }) => (
      <Text size="sm" truncate title={description ?? undefined}>
        {description ?? "–"}
      </Text>
    ),
  },
  {
    id: "reviewers",
    header: "Reviewers per run",
    width: "150px",
    align: "right",
    cell: (queue) => queue.num_reviewers_per_item ?? "All",
  },
  { id: "runs", header: "Runs", width: "90px", align: "right", cell: (queue) => count(queue.total_runs) },
  { id: "created_at", header: "Created", width: "110px", cell: (queue) => <TimeText at={queue.created_at} /> },
];

/** List of annotation queues. */
export function QueuesPage() {
  const navigate = useNavigate();
  const [isNew, setNew] = useNewForm();
  const [text, setText] = useState("");
  const search = useDebouncedCallback(setText, 250);
  const found = useInfiniteQuery(queuesQuery(text));
  const queues = useMemo(() => found.data?.pages.flat() ?? [], [found.data]);
  const open = (queueId: string) => navigate({ to: "/annotation-queues/$queueId", params: { queueId } });
  return (
    <Page
      title="Annotation queues"
      actions={
        <Button size="xs" leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setNew(true)}>
          New queue
        </Button>
      }
    >
      <TextInput
        aria-label="Search annotation queues by name"
        placeholder="Search by name"
        leftSection={<IconSearch size={14} aria-hidden />}
        size="xs"
        mb="sm"
        w={{ base: "100%", xs: 260 }}
        onChange={({ currentTarget: { value } }) => search(value)}
      />
      <LoadedList
        query={found}
        rows={8}
        list={queues}
        empty={
          <Empty title={text === "" ? "No annotation queues yet" : "No matching annotation queues"}>
            <Text size="sm" maw={520}>
              A queue gives runs to reviewers, one after another, with a rubric. Create one here, then add runs from a
              trace, a selection of runs or a filtered list.
            </Text>
          </Empty>
        }
      >
        <DataTable
          label="Annotation queues"
          columns={COLUMNS}
          rows={queues}
          rowKey={({ id }) => id}
          onOpen={({ id }) => void open(id)}
          pages={found}
        />
      </LoadedList>
      {isNew && <QueueForm onSaved={open} onClose={() => setNew(false)} />}
    </Page>
  );
}
