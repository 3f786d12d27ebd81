import { Group, SimpleGrid, Text, TextInput, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { counted } from "../../ui/format.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadedList, LoadState } from "../../ui/load-state.tsx";
import { NewButton } from "../../ui/new-button.tsx";
import { Page } from "../../ui/page.tsx";
import { PermittedButton } from "../../ui/permitted-button.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { projectChoicesQuery } from "../rules/queries.ts";
import { workspacesQuery } from "../../app/queries.ts";
import { useOrganizationPermission, usePermission } from "../settings/use-permission.ts";
import { createDashboard, dashboardsQuery, type Owner } from "./queries.ts";

/** Dashboards of the workspace and the organization, and those that the projects have by themselves. */
export function DashboardsPage() {
  const [newOf, setNewOf] = useState<Owner | null>(null);
  const denial = usePermission("charts:create");
  const ofOrganization = useQuery(dashboardsQuery("organization"));
  const { data: workspaces } = useQuery(workspacesQuery);
  const hasOrganization = (workspaces?.length ?? 0) > 1 || (ofOrganization.data?.length ?? 0) > 0;
  const managing = useOrganizationPermission("organization:manage", hasOrganization);
  const projects = useQuery(projectChoicesQuery);
  return (
    <Page
      title="Dashboards"
      actions={
        <NewButton denial={denial} onClick={() => setNewOf("workspace")}>
          New dashboard
        </NewButton>
      }
    >
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <section>
          <Title order={2} size="h5" mb="xs">
            Of the workspace
          </Title>
          <DashboardList owner="workspace" none="None yet. Create one, or copy a project's dashboard and change it." />
          {hasOrganization && (
            <>
              <Group justify="space-between" mt="lg" mb="xs">
                <Title order={2} size="h5">
                  Of the organization
                </Title>
                <PermittedButton
                  denial={managing}
                  size="compact-xs"
                  variant="default"
                  onClick={() => setNewOf("organization")}
                >
                  New dashboard of the organization
                </PermittedButton>
              </Group>
              <DashboardList
                owner="organization"
                none="None yet. They show all workspaces in which you may read dashboards."
              />
            </>
          )}
        </section>
        <section>
          <Title order={2} size="h5" mb="xs">
            Of projects
          </Title>
          <LoadedList
            query={projects}
            rows={3}
            list={projects.data ?? []}
            empty={
              <Text size="sm" c="dimmed">
                No project has traces yet.
              </Text>
            }
          >
            <SimpleTable
              label="Dashboards of projects"
              rows={projects.data ?? []}
              rowKey={({ id }) => id}
              minWidth={400}
              columns={[
                {
                  title: "Project",
                  cell: ({ id, name }) => (
                    <AnchorLink to="/projects/$projectId/dashboard" params={{ projectId: id }} size="sm">
                      {name ?? id}
                    </AnchorLink>
                  ),
                },
                {
                  title: "Last run",
                  cell: ({ last_run_start_time: at }) => (at == null ? "–" : <TimeText at={at} />),
                  width: 130,
                },
              ]}
            />
          </LoadedList>
        </section>
      </SimpleGrid>
      {newOf !== null && <NewDashboard owner={newOf} onClose={() => setNewOf(null)} />}
    </Page>
  );
}

function DashboardList({ owner, none }: { owner: Owner; none: string }) {
  const dashboards = useQuery(dashboardsQuery(owner));
  if (!dashboards.data) return <LoadState query={dashboards} rows={3} />;
  if (dashboards.data.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {none}
      </Text>
    );
  return (
    <SimpleTable
      label={`Dashboards of the ${owner}`}
      rows={dashboards.data}
      rowKey={({ id }) => id}
      minWidth={500}
      columns={[
        {
          title: "Name",
          cell: ({ id, title }) => (
            <AnchorLink to="/dashboards/$dashboardId" params={{ dashboardId: id }} search={searchOf(owner)} size="sm">
              {title}
            </AnchorLink>
          ),
        },
        { title: "Charts", cell: ({ chart_count: n }) => counted(n, "chart"), width: 110 },
        { title: "Changed", cell: ({ modified_at: at }) => <TimeText at={at} />, width: 130 },
      ]}
    />
  );
}

const searchOf = (owner: Owner) => (owner === "organization" ? { of: owner } : {});

function NewDashboard({ owner, onClose }: { owner: Owner; onClose: () => void }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const form = useForm({ initialValues: { title: "" } });
  return (
    <FormModal
      title={owner === "workspace" ? "New dashboard" : "New dashboard of the organization"}
      action="Create"
      form={form}
      size="md"
      isReady={form.values.title.trim() !== ""}
      failure="Could not create the dashboard"
      onSubmit={async ({ title }) => {
        const { id } = await createDashboard(owner, title.trim());
        await client.invalidateQueries({ queryKey: ["dashboards"] });
        await navigate({ to: "/dashboards/$dashboardId", params: { dashboardId: id }, search: searchOf(owner) });
      }}
      onClose={onClose}
    >
      <TextInput label="Name" required maxLength={512} data-autofocus {...form.getInputProps("title")} />
    </FormModal>
  );
}
