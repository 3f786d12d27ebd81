import { IconPlayerPlay } from "@tabler/icons-react";
import { lazy, Suspense, useState } from "react";

import { PermittedButton } from "../../ui/permitted-button.tsx";
import { usePermission } from "../settings/use-permission.ts";

const RunExperiment = lazy(async () => ({ default: (await import("./run-experiment.tsx")).RunExperiment }));

interface RunExperimentButtonProps {
  datasetId?: string;
  prompt?: { name: string; commit: string };
  variant?: "default" | "filled";
}

/** Button that opens the dialog "Run experiment". */
export function RunExperimentButton({ variant = "default", ...from }: RunExperimentButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <PermittedButton
        denial={usePermission("models:call")}
        size="xs"
        variant={variant}
        leftSection={<IconPlayerPlay size={14} aria-hidden />}
        onClick={() => setOpen(true)}
      >
        Run experiment
      </PermittedButton>
      {isOpen && (
        <Suspense>
          <RunExperiment {...from} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
