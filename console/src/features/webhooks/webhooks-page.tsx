import { Code, Group, SegmentedControl, Text, TextInput } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { agentApi, data } from "../../api/clients.ts";
import { Empty } from "../../ui/empty.tsx";
import { FailingReceivers } from "../../ui/failing-receivers.tsx";
import { Filters } from "../../ui/filters.tsx";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadedList } from "../../ui/load-state.tsx";
import { Page } from "../../ui/page.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { DeliveryDetails } from "./delivery-details.tsx";
import { deliveriesQuery, type Delivery, type DeliveryStatus } from "./queries.ts";
import { WebhookSample } from "../samples/sample-parts.tsx";

const route = getRouteApi("/_shell/a/$server/webhooks");
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** All webhook messages of ended runs, delivered or pending. */
export function WebhooksPage() {
  const { server } = route.useParams();
  const { status, run, delivery } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useInfiniteQuery(deliveriesQuery(server, { status, run }));
  const [runText, setRunText] = useState(run ?? "");
  const rows = list.data?.pages.flat() ?? [];
  const isFiltered = status !== undefined || run !== undefined;
  return (
    <Page title="Webhooks">
      <Group gap="xs" mb="sm" align="start">
        <SegmentedControl
          size="xs"
          aria-label="Filter by status"
          data={[
            { value: "all", label: "All" },
            { value: "pending", label: "Pending" },
            { value: "delivered", label: "Delivered" },
            { value: "failed", label: "Failed" },
          ]}
          value={status ?? "all"}
          onChange={(value) =>
            void navigate({
              search: (before) => ({ ...before, status: value === "all" ? undefined : (value as DeliveryStatus) }),
            })
          }
        />
        <Filters active={run === undefined ? 0 : 1}>
          <TextInput
            aria-label="Run ID"
            placeholder="Run ID"
            size="xs"
            value={runText}
            error={runText !== "" && !UUID.test(runText.trim()) ? "Enter a full run ID" : null}
            onChange={(event) => {
              const text = event.currentTarget.value.trim();
              setRunText(event.currentTarget.value);
              if (text === "" || UUID.test(text)) {
                void navigate({
                  search: (before) => ({ ...before, run: text === "" ? undefined : text }),
                  replace: true,
                });
              }
            }}
            w={{ base: "100%", xs: 300 }}
            maw="100%"
          />
        </Filters>
      </Group>
      <FailingReceivers
        queryKey={["agent", server, "deliveries", "receivers"]}
        read={() => data(agentApi(server).GET("/webhooks/receivers"))}
        retry={(origin) => agentApi(server).POST("/webhooks/receivers/retry", { body: { origin } })}
      />
      <LoadedList
        query={list}
        list={rows}
        empty={
          <Empty title={isFiltered ? "No matching deliveries" : "No deliveries yet"}>
            <Text size="sm">
              {isFiltered ? (
                "Clear the filters to see all deliveries."
              ) : (
                <>
                  Set <Code>webhook</Code> on a run or a cron. When a run ends, its URL receives a POST request that is
                  listed here.
                </>
              )}
            </Text>
            {!isFiltered && <WebhookSample server={server} />}
          </Empty>
        }
      >
        <SimpleTable
          label="Deliveries"
          rows={rows}
          rowKey={({ delivery_id: id }) => id}
          columns={columns(server)}
          minWidth={820}
          pages={list}
        />
      </LoadedList>
      {delivery !== undefined && (
        <DeliveryDetails
          server={server}
          id={delivery}
          onClose={() => void navigate({ search: (before) => ({ ...before, delivery: undefined }) })}
        />
      )}
    </Page>
  );
}

const columns = (server: string) => [
  { title: "Status", cell: ({ status }: Delivery) => <StatusBadge status={status} />, width: 130 },
  {
    title: "URL",
    cell: (delivery: Delivery) => (
      <AnchorLink
        to="/a/$server/webhooks"
        params={{ server }}
        search={(before: object) => ({ ...before, delivery: delivery.delivery_id })}
        size="sm"
      >
        {delivery.url}
      </AnchorLink>
    ),
  },
  { title: "Run status", cell: ({ run_status: status }: Delivery) => <StatusBadge status={status} />, width: 130 },
  {
    title: "Attempts",
    cell: ({ attempts }: Delivery) => (
      <Text size="sm" className="numbers">
        {attempts}
      </Text>
    ),
    width: 90,
    align: "right" as const,
  },
  {
    title: "Next attempt",
    cell: ({ next_attempt_at: at }: Delivery) => (at === null ? "" : <TimeText at={at} />),
    width: 120,
  },
  { title: "Created", cell: ({ created_at: at }: Delivery) => <TimeText at={at} />, width: 100 },
];
