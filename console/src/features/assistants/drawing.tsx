import { Box } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { GraphView } from "../../ui/graph-view/graph-view.tsx";
import type { Drawing } from "../../ui/graph-view/layout.ts";
import { Loading } from "../../ui/loading.tsx";
import { Problem } from "../../ui/problem.tsx";
import { drawingQuery } from "./queries.ts";

interface GraphDrawingProps {
  server: string;
  assistantId: string;
}

export function GraphDrawing({ server, assistantId }: GraphDrawingProps) {
  const { data: drawing, error, refetch } = useQuery(drawingQuery(server, assistantId));
  if (error) return <Problem error={error} onRetry={refetch} />;
  if (!drawing) return <Loading />;
  return (
    <Box h="max(360px, calc(100vh - 260px))">
      <GraphView drawing={drawing as unknown as Drawing} />
    </Box>
  );
}
