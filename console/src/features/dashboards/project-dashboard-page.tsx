import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { projectQuery } from "../projects/queries.ts";
import { PrebuiltDashboard } from "./prebuilt-dashboard.tsx";

const route = getRouteApi("/_shell/projects/$projectId/dashboard");

/** The dashboard that every project has, with what got worse. */
export function ProjectDashboardPage() {
  const { projectId } = route.useParams();
  const update = route.useNavigate();
  const { data: project } = useQuery(projectQuery(projectId));
  return (
    <PrebuiltDashboard
      source={{ projectId }}
      title={project ? `${project.name} dashboard` : "Dashboard"}
      search={route.useSearch()}
      onSearch={(next) => void update({ search: next, replace: true })}
    />
  );
}
