import { Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";

import { LoadState } from "../../ui/load-state.tsx";
import { type LogFilter, LogView } from "../../ui/log-view.tsx";
import type { LogKind } from "./tabs.ts";
import { useLog } from "./use-log.ts";

interface DeploymentLogProps {
  deploymentId: string;
  revisionId?: string;
  kind: LogKind;
  isLive: boolean;
  height?: number | string;
}

export function DeploymentLog({ deploymentId, revisionId, kind, isLive, height = 420 }: DeploymentLogProps) {
  const [filter, setFilter] = useState<LogFilter>({ query: "", level: "" });
  const [debouncedFilter] = useDebouncedValue(filter, 300);
  const log = useLog({ deploymentId, revisionId, kind }, debouncedFilter, isLive);
  const isFirst = log.isPending && debouncedFilter.query === "" && debouncedFilter.level === "";
  if (isFirst || (log.error && log.lines.length === 0)) return <LoadState query={log} rows={10} />;
  return (
    <LogView
      label={kind === "build" ? "Build log" : "Server log"}
      lines={log.lines}
      filter={filter}
      onFilter={setFilter}
      isLive={isLive}
      height={height}
      pages={log}
      empty={
        <Text size="sm" c="dimmed">
          {kind === "build"
            ? "No build log: nothing was built for this revision, or the build has not started."
            : "No server logs yet."}
        </Text>
      }
    />
  );
}
