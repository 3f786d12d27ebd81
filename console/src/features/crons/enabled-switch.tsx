import { Switch } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";

import { agentApi } from "../../api/clients.ts";
import { notifyFailure } from "../../ui/notify.ts";
import type { Cron } from "./queries.ts";

export function EnabledSwitch({ server, cron }: { server: string; cron: Cron }) {
  const queryClient = useQueryClient();
  const change = useMutation({
    mutationFn: (enabled: boolean) =>
      agentApi(server).PATCH("/runs/crons/{cron_id}", {
        params: { path: { cron_id: cron.cron_id } },
        body: { enabled },
      }),
    onError: notifyFailure("Could not update the cron"),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ["agent", server, "crons"] }),
  });
  return (
    <Switch
      size="sm"
      aria-label={`Enabled: ${cron.schedule}`}
      checked={change.isPending ? change.variables : cron.enabled}
      onChange={(event) => change.mutate(event.currentTarget.checked)}
    />
  );
}
