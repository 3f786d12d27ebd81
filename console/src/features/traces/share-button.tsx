import { ActionIcon, Popover } from "@mantine/core";
import { IconShare } from "@tabler/icons-react";
import { useState } from "react";

import { data, traceApi } from "../../api/clients.ts";
import { ShareLink } from "../sharing/share-link.tsx";
import { traceShareQuery } from "./queries.ts";

/** Public link to the run's whole trace, with a button that revokes it. */
export function ShareButton({ runId }: { runId: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" width={340} trapFocus>
      <Popover.Target>
        <ActionIcon variant="subtle" color="neutral" aria-label="Share trace" onClick={() => setOpen(!isOpen)}>
          <IconShare size={16} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown>
        <Sharing runId={runId} />
      </Popover.Dropdown>
    </Popover>
  );
}

function Sharing({ runId }: { runId: string }) {
  const params = { path: { run_id: runId } };
  const path = "/api/v1/runs/{run_id}/share";
  return (
    <ShareLink
      query={traceShareQuery(runId)}
      noun="trace"
      covers="the whole trace with its feedback"
      kind="r"
      begin={() => data(traceApi.PUT(path, { params, body: { run_id: runId } }))}
      end={() => traceApi.DELETE(path, { params })}
    />
  );
}
