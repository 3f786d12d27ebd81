import { Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";

import { data, traceApi } from "../../api/clients.ts";
import { commitFilter } from "./commit-filter.ts";

/** Query for the projects that have newest runs of a commit. */
const runProjectsQuery = (hash: string, days: number) => ({
  queryKey: ["prompt-runs", hash, days],
  async queryFn({ signal }: { signal: AbortSignal }) {
    const query = { sort_by: "last_run_start_time" as const, sort_by_desc: "true" as const, limit: "100" };
    const projects = await data(traceApi.GET("/api/v1/sessions", { params: { query }, signal }));
    if (projects.length === 0) return [];
    const body = {
      session: projects.map(({ id }) => id),
      filter: commitFilter(hash),
      start_time: new Date(Date.now() - days * 86_400_000).toISOString(),
      limit: 100,
      select: ["id", "session_id"] as ("id" | "session_id")[],
    };
    const { runs } = await data(traceApi.POST("/api/v1/runs/query", { body, signal }));
    const ids = new Set(runs.map(({ session_id: id }) => id));
    return projects.filter(({ id }) => ids.has(id));
  },
});

export function RunProjects({ hash, days }: { hash: string; days: number }) {
  const navigate = useNavigate();
  const { data: projects, error } = useQuery(runProjectsQuery(hash, days));
  if (error) return <Menu.Label>{error.message}</Menu.Label>;
  if (!projects) return <Menu.Label>Searching projects …</Menu.Label>;
  if (projects.length === 0) return <Menu.Label>No project has such traces any more</Menu.Label>;
  const last = days <= 1 ? "24h" : days <= 7 ? "7d" : days <= 30 ? "30d" : "90d";
  return (
    <>
      <Menu.Label>View traces in</Menu.Label>
      {projects.map(({ id, name }) => (
        <Menu.Item
          key={id}
          onClick={() =>
            void navigate({
              to: "/projects/$projectId",
              params: { projectId: id },
              search: { tree_filter: commitFilter(hash), last } as never,
            })
          }
        >
          {name}
        </Menu.Item>
      ))}
    </>
  );
}
