import { Menu } from "@mantine/core";
import { IconArrowsDiff, IconDatabasePlus, IconFlask, IconListCheck, IconPin } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";

import { ActionsMenu } from "../../ui/actions-menu.tsx";
import { ButtonLink } from "../../ui/links.tsx";
import type { Run } from "../runs/run-record.ts";
import { useMarkedRun } from "./marked-run.tsx";
import { ShareButton } from "./share-button.tsx";

const AddToDataset = lazy(async () => ({ default: (await import("./add-to-dataset.tsx")).AddToDataset }));
const AddToQueue = lazy(async () => ({
  default: (await import("../annotation-queues/add-to-queue.tsx")).AddToQueue,
}));

/** Actions on a run. */
export function RunActions({ run }: { run: Run }) {
  const [adding, setAdding] = useState<"dataset" | "queue" | null>(null);
  const close = () => setAdding(null);
  const { mark } = useMarkedRun();
  return (
    <>
      {run.run_type === "llm" && (
        <ButtonLink
          size="compact-sm"
          variant="default"
          leftSection={<IconFlask size={14} aria-hidden />}
          to="/playground"
          search={{ run: run.id }}
        >
          Open in playground
        </ButtonLink>
      )}
      <ShareButton runId={run.id} />
      <ActionsMenu label="More actions" isQuiet>
        <Menu.Item leftSection={<IconDatabasePlus size={14} aria-hidden />} onClick={() => setAdding("dataset")}>
          Add to dataset
        </Menu.Item>
        <Menu.Item leftSection={<IconListCheck size={14} aria-hidden />} onClick={() => setAdding("queue")}>
          Add to queue
        </Menu.Item>
        <Menu.Item leftSection={<IconPin size={14} aria-hidden />} onClick={() => mark(run)}>
          Mark for comparison
        </Menu.Item>
        <Menu.Item
          leftSection={<IconArrowsDiff size={14} aria-hidden />}
          renderRoot={(props) => <Link to="/compare" search={{ a: run.id }} {...props} />}
        >
          Compare with another run
        </Menu.Item>
      </ActionsMenu>
      {adding !== null && (
        <Suspense>
          {adding === "dataset" ? (
            <AddToDataset runIds={[run.id]} onClose={close} />
          ) : (
            <AddToQueue runs={{ ids: [run.id] }} onClose={close} />
          )}
        </Suspense>
      )}
    </>
  );
}
