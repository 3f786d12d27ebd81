import { Box, Button, Group, Stack, Tabs, Text } from "@mantine/core";
import { IconPencil, IconPlayerPlay, IconTrash } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";

import { agentApi } from "../../api/clients.ts";
import { useConfirm } from "../../ui/confirm.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import type { Drawing } from "../../ui/graph-view/layout.ts";
import { JsonView } from "../../ui/json-view.tsx";
import { ButtonLink } from "../../ui/links.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { TabList } from "../../ui/tab-list.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { AssistantForm } from "./assistant-form.tsx";
import { type Assistant, assistantQuery, drawingQuery, isDefault, schemasQuery } from "./queries.ts";
import { ASSISTANT_TABS, type AssistantTab } from "./tabs.ts";
import { Versions } from "./versions.tsx";

const GraphView = lazy(async () => ({ default: (await import("../../ui/graph-view/graph-view.tsx")).GraphView }));
const route = getRouteApi("/_shell/a/$server/assistants/$assistantId");

const TITLES: Record<AssistantTab, string> = {
  now: "Overview",
  versions: "Versions",
  graph: "Graph",
  schemas: "Schemas",
};

export function AssistantPage() {
  const { server, assistantId } = route.useParams();
  const { tab = "now" } = route.useSearch();
  const navigate = useNavigate();
  const { data: assistant, error, refetch } = useQuery(assistantQuery(server, assistantId));
  const [isEditing, setEditing] = useState(false);
  return (
    <Page
      title={assistant?.name ?? "Assistant"}
      actions={assistant && <Actions server={server} assistant={assistant} onEdit={() => setEditing(true)} />}
    >
      {assistant ? (
        <Stack gap="sm">
          <Summary assistant={assistant} />
          <Tabs
            value={tab}
            keepMounted={false}
            onChange={(next) =>
              void navigate({
                to: "/a/$server/assistants/$assistantId",
                params: { server, assistantId },
                search: { tab: next as AssistantTab },
              })
            }
          >
            <TabList mb="sm">
              {ASSISTANT_TABS.map((value) => (
                <Tabs.Tab key={value} value={value}>
                  {TITLES[value]}
                </Tabs.Tab>
              ))}
            </TabList>
            <Tabs.Panel value="now">
              <Overview assistant={assistant} />
            </Tabs.Panel>
            <Tabs.Panel value="versions">
              <Versions server={server} assistant={assistant} />
            </Tabs.Panel>
            <Tabs.Panel value="graph">
              <Suspense fallback={<Loading />}>
                <GraphDrawing server={server} assistantId={assistantId} />
              </Suspense>
            </Tabs.Panel>
            <Tabs.Panel value="schemas">
              <Schemas server={server} assistantId={assistantId} />
            </Tabs.Panel>
          </Tabs>
        </Stack>
      ) : (
        <LoadState query={{ error, refetch }} />
      )}
      {isEditing && assistant && (
        <AssistantForm
          server={server}
          assistant={assistant}
          onClose={() => setEditing(false)}
          onSaved={() => setEditing(false)}
        />
      )}
    </Page>
  );
}

function Actions({ server, assistant, onEdit }: { server: string; assistant: Assistant; onEdit: () => void }) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const { confirm, dialog } = useConfirm();
  const id = assistant.assistant_id;
  const remove = () =>
    confirm({
      title: `Delete ${assistant.name}?`,
      body: "This deletes all its versions and crons. Threads and finished runs are kept.",
      action: "Delete",
      async run() {
        await agentApi(server).DELETE("/assistants/{assistant_id}", { params: { path: { assistant_id: id } } });
        await navigate({ to: "/a/$server/assistants", params: { server } });
        await queryClient.invalidateQueries({ queryKey: ["agent", server, "assistants"], refetchType: "none" });
      },
    });
  return (
    <>
      <ButtonLink
        size="xs"
        variant="default"
        leftSection={<IconPlayerPlay size={14} aria-hidden />}
        to="/a/$server/playground"
        params={{ server }}
        search={{ assistant: id } as never}
      >
        Open in playground
      </ButtonLink>
      <Button size="xs" variant="default" leftSection={<IconPencil size={14} aria-hidden />} onClick={onEdit}>
        Edit
      </Button>
      {!isDefault(assistant) && (
        <Button size="xs" variant="default" leftSection={<IconTrash size={14} aria-hidden />} onClick={remove}>
          Delete
        </Button>
      )}
      {dialog}
    </>
  );
}

function Summary({ assistant }: { assistant: Assistant }) {
  const { assistant_id: id, graph_id: graph, version, description } = assistant;
  return (
    <div>
      {description !== null && <Text mb={4}>{description}</Text>}
      <Group gap="xs" c="dimmed">
        <Text size="sm">
          Graph{" "}
          <Text span c="var(--mantine-color-text)">
            {graph}
          </Text>
          , version {version}
        </Text>
        <Text size="sm">
          created <TimeText at={assistant.created_at} />, updated <TimeText at={assistant.updated_at} />
        </Text>
        <Group gap={2} wrap="nowrap">
          <Text size="xs" ff="monospace" style={{ overflowWrap: "anywhere" }}>
            {id}
          </Text>
          <CopyButton value={id} label="Copy ID" />
        </Group>
      </Group>
    </div>
  );
}

function Overview({ assistant }: { assistant: Assistant }) {
  return (
    <Stack>
      {(["config", "context", "metadata"] as const).map((field) => (
        <Section key={field} title={field[0]!.toUpperCase() + field.slice(1)} value={assistant[field]} />
      ))}
    </Stack>
  );
}

function GraphDrawing({ server, assistantId }: { server: string; assistantId: string }) {
  const { data: drawing, error, refetch } = useQuery(drawingQuery(server, assistantId));
  if (!drawing) return <LoadState query={{ error, refetch }} />;
  return (
    <Box h="max(360px, calc(100vh - 260px))">
      <GraphView drawing={drawing as unknown as Drawing} />
    </Box>
  );
}

function Schemas({ server, assistantId }: { server: string; assistantId: string }) {
  const { data: schemas, error, refetch } = useQuery(schemasQuery(server, assistantId));
  if (!schemas) return <LoadState query={{ error, refetch }} />;
  const shown = Object.entries(schemas).filter(([name, value]) => name.endsWith("_schema") && value !== null);
  if (shown.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        The graph has no schemas: none could be read from its source.
      </Text>
    );
  }
  return (
    <Stack>
      {shown.map(([name, value]) => (
        <Section key={name} title={formatTitle(name)} value={value} />
      ))}
    </Stack>
  );
}

function Section({ title, value }: { title: string; value: unknown }) {
  return (
    <section>
      <Text component="h2" size="sm" fw={600} mb={4}>
        {title}
      </Text>
      <JsonView value={value ?? null} label={title} />
    </section>
  );
}

/** Formats `input_schema` like the page's other headings: Input schema. */
const formatTitle = (name: string): string => name[0]!.toUpperCase() + name.slice(1).replace("_", " ");
