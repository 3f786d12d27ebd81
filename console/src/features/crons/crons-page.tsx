import { Code, SegmentedControl, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { Empty } from "../../ui/empty.tsx";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadedList } from "../../ui/load-state.tsx";
import { NewButton } from "../../ui/new-button.tsx";
import type { Pages } from "../../ui/next-page.tsx";
import { Page } from "../../ui/page.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { CronSample } from "../samples/sample-parts.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { useNewForm } from "../../ui/use-new-form.ts";
import { CronDetails } from "./cron-details.tsx";
import { CronForm } from "./cron-form.tsx";
import { EnabledSwitch } from "./enabled-switch.tsx";
import { RunNowButton } from "./run-now-button.tsx";
import { assistantNamesQuery, type Cron, cronsQuery } from "./queries.ts";

const route = getRouteApi("/_shell/a/$server/crons");

export function CronsPage() {
  const { server } = route.useParams();
  const { enabled, cron } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useInfiniteQuery(cronsQuery(server, enabled));
  const [isCreating, setCreating] = useNewForm();
  const rows = list.data?.pages.flat() ?? [];
  const show = (id: string | undefined) => void navigate({ search: (before) => ({ ...before, cron: id }) });
  const createButton = <NewButton onClick={() => setCreating(true)}>New cron</NewButton>;
  return (
    <Page title="Crons" actions={createButton}>
      <SegmentedControl
        size="xs"
        mb="sm"
        aria-label="Filter by status"
        data={[
          { value: "all", label: "All" },
          { value: "true", label: "Enabled" },
          { value: "false", label: "Paused" },
        ]}
        value={enabled === undefined ? "all" : String(enabled)}
        onChange={(value) =>
          void navigate({
            search: (before) => ({ ...before, enabled: value === "all" ? undefined : value === "true" }),
          })
        }
      />
      <LoadedList
        query={list}
        list={rows}
        empty={
          <Empty title={enabled === undefined ? "No crons yet" : enabled ? "No enabled crons" : "No paused crons"}>
            <Text size="sm">A cron starts runs of an assistant on a schedule. Create one with “New cron”.</Text>
            {enabled === undefined && <CronSample server={server} />}
          </Empty>
        }
      >
        <CronTable server={server} rows={rows} pages={list} />
      </LoadedList>
      {cron !== undefined && <CronDetails server={server} id={cron} onClose={() => show(undefined)} />}
      {isCreating && (
        <CronForm
          server={server}
          onClose={() => setCreating(false)}
          onSaved={(saved) => {
            setCreating(false);
            show(saved.cron_id);
          }}
        />
      )}
    </Page>
  );
}

interface CronTableProps {
  server: string;
  rows: Cron[];
  pages: Pages;
}

function CronTable({ server, ...table }: CronTableProps) {
  const { data: assistants = [] } = useQuery(assistantNamesQuery(server));
  const assistantName = (id: string) =>
    assistants.find(({ assistant_id: assistantId }) => assistantId === id)?.name ?? id;
  return (
    <SimpleTable
      {...table}
      label="Crons"
      rowKey={({ cron_id: id }) => id}
      minWidth={860}
      columns={[
        {
          title: "Schedule",
          cell: (cron) => (
            <AnchorLink to="/a/$server/crons" params={{ server }} search={{ cron: cron.cron_id }} size="sm">
              <Code>{cron.schedule}</Code> {cron.timezone ?? "UTC"}
            </AnchorLink>
          ),
        },
        { title: "Assistant", cell: (cron) => <Text size="sm">{assistantName(cron.assistant_id)}</Text> },
        {
          title: "Thread",
          cell: ({ thread_id: id }) =>
            id === null ? (
              <Text size="sm" c="dimmed">
                New thread per run
              </Text>
            ) : (
              <AnchorLink to="/a/$server/threads/$threadId" params={{ server, threadId: id }} size="sm" ff="monospace">
                {id.slice(-12)}
              </AnchorLink>
            ),
        },
        {
          title: "Next run",
          cell: (cron) => (cron.enabled ? <TimeText at={cron.next_run_date} /> : <Text size="sm">paused</Text>),
          width: 110,
        },
        { title: "Enabled", cell: (cron) => <EnabledSwitch server={server} cron={cron} />, width: 90 },
        {
          title: "",
          cell: (cron) => <RunNowButton server={server} cronId={cron.cron_id} size="compact-xs" />,
          width: 120,
        },
      ]}
    />
  );
}
