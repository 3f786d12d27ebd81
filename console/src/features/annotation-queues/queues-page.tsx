import { Group } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";

import { Clipped } from "../../ui/clipped.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { count } from "../../ui/format.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadedList } from "../../ui/load-state.tsx";
import { NewButton } from "../../ui/new-button.tsx";
import { Page } from "../../ui/page.tsx";
import { SearchField } from "../../ui/search-field.tsx";
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
    cell: ({ description }) => <Clipped text={description} />,
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
  const found = useInfiniteQuery(queuesQuery(text));
  const queues = useMemo(() => found.data?.pages.flat() ?? [], [found.data]);
  const open = (queueId: string) => navigate({ to: "/annotation-queues/$queueId", params: { queueId } });
  return (
    <Page title="Annotation queues" actions={<NewButton onClick={() => setNew(true)}>New queue</NewButton>}>
      <Group mb="sm">
        <SearchField
          label="Search annotation queues by name"
          placeholder="Search by name"
          initial=""
          onSearch={setText}
        />
      </Group>
      <LoadedList
        query={found}
        rows={8}
        list={queues}
        empty={
          <Empty title={text === "" ? "No annotation queues yet" : "No matching annotation queues"}>
            A queue gives runs to reviewers, one after another, with a rubric. Create one here, then add runs from a
            trace, a selection of runs or a filtered list.
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
