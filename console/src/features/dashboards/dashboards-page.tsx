import { SimpleGrid, Text, TextInput, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconPlus } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { counted } from "../../ui/format.ts";
import { FormModal } from "../../ui/form-modal.tsx";
import { AnchorLink } from "../../ui/links.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { PermittedButton } from "../../ui/permitted-button.tsx";
import { Problem } from "../../ui/problem.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { projectChoicesQuery } from "../rules/queries.ts";
import { usePermission } from "../settings/use-permission.ts";
import { createDashboard, dashboardsQuery } from "./queries.ts";

/** Dashboards of the workspace, and those that the projects have by themselves. */
export function DashboardsPage() {
  const [isNew, setNew] = useState(false);
  const denial = usePermission("charts:create");
  const dashboards = useQuery(dashboardsQuery);
  const projects = useQuery(projectChoicesQuery);
  return (
    <Page
      title="Dashboards"
      actions={
        <PermittedButton
          denial={denial}
          size="xs"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => setNew(true)}
        >
          New dashboard
        </PermittedButton>
      }
    >
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <section>
          <Title order={2} size="h5" mb="xs">
            Of the workspace
          </Title>
          {dashboards.error ? (
            <Problem error={dashboards.error} onRetry={dashboards.refetch} />
          ) : dashboards.isPending ? (
            <Loading rows={3} />
          ) : dashboards.data.length === 0 ? (
            <Text size="sm" c="dimmed">
              None yet. Create one, or copy a project&apos;s dashboard and change it.
            </Text>
          ) : (
            <SimpleTable
              label="Dashboards of the workspace"
              rows={dashboards.data}
              rowKey={({ id }) => id}
              minWidth={500}
              columns={[
                {
                  title: "Name",
                  cell: ({ id, title }) => (
                    <AnchorLink to="/dashboards/$dashboardId" params={{ dashboardId: id }} size="sm">
                      {title}
                    </AnchorLink>
                  ),
                },
                { title: "Charts", cell: ({ chart_count: n }) => counted(n, "chart"), width: 110 },
                { title: "Changed", cell: ({ modified_at: at }) => <TimeText at={at} />, width: 130 },
              ]}
            />
          )}
        </section>
        <section>
          <Title order={2} size="h5" mb="xs">
            Of projects
          </Title>
          {projects.error ? (
            <Problem error={projects.error} onRetry={projects.refetch} />
          ) : projects.isPending ? (
            <Loading rows={3} />
          ) : projects.data.length === 0 ? (
            <Text size="sm" c="dimmed">
              No project has traces yet.
            </Text>
          ) : (
            <SimpleTable
              label="Dashboards of projects"
              rows={projects.data}
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
          )}
        </section>
      </SimpleGrid>
      {isNew && <NewDashboard onClose={() => setNew(false)} />}
    </Page>
  );
}

function NewDashboard({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const form = useForm({ initialValues: { title: "" } });
  return (
    <FormModal
      title="New dashboard"
      action="Create"
      form={form}
      size="md"
      isReady={form.values.title.trim() !== ""}
      failure="Could not create the dashboard"
      onSubmit={async ({ title }) => {
        const { id } = await createDashboard(title.trim());
        await client.invalidateQueries({ queryKey: ["dashboards"] });
        await navigate({ to: "/dashboards/$dashboardId", params: { dashboardId: id } });
      }}
      onClose={onClose}
    >
      <TextInput label="Name" required maxLength={512} data-autofocus {...form.getInputProps("title")} />
    </FormModal>
  );
}
