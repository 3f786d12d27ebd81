import { Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { commitFilter } from "./commit-filter.ts";

/** Link to the tries of a commit in the playground, which are traces of the project of that name. */
export function PlaygroundTries({ hash }: { hash: string }) {
  const { data: project } = useQuery({
    queryKey: ["projects", "playground"],
    async queryFn({ signal }) {
      const query = { name: "playground", limit: "1" };
      return (await data(traceApi.GET("/api/v1/sessions", { params: { query }, signal })))[0] ?? null;
    },
    staleTime: 60_000,
  });
  if (!project) return null;
  return (
    <section aria-label="Playground">
      <Title order={2} size="h6" mb={4}>
        Playground
      </Title>
      <AnchorLink
        to="/projects/$projectId"
        params={{ projectId: project.id }}
        search={{ tree_filter: commitFilter(hash), last: "90d" } as never}
        size="sm"
      >
        Tries of this commit
      </AnchorLink>
    </section>
  );
}
