import { Button, type ButtonProps } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";

import { agentApi, data } from "../../api/clients.ts";
import { notifyDone, notifyFailure } from "../../ui/notify.ts";

interface RunNowButtonProps extends ButtonProps {
  server: string;
  cronId: string;
}

/** Starts a run of a cron beside its schedule. It appears among the cron's recent runs. */
export function RunNowButton({ server, cronId, ...props }: RunNowButtonProps) {
  const queryClient = useQueryClient();
  const start = useMutation({
    mutationFn: () =>
      data(agentApi(server).POST("/runs/crons/{cron_id}/trigger", { params: { path: { cron_id: cronId } } })),
    onSuccess: ({ run_id: run }) => notifyDone(`Run ${run.slice(-8)} started. The schedule is unchanged.`),
    onError: notifyFailure("Could not start a run of the cron"),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ["agent", server, "crons", cronId] }),
  });
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<IconPlayerPlay size={14} aria-hidden />}
      loading={start.isPending}
      onClick={() => start.mutate()}
      {...props}
    >
      Run now
    </Button>
  );
}
