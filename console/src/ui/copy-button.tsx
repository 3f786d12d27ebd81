import { ActionIcon, Tooltip } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";

import { useCopy } from "./use-copy.ts";

export function CopyButton({ value, label }: { value: string; label: string }) {
  const { copied, copy } = useCopy();
  return (
    <Tooltip label={copied ? "Copied" : label}>
      <ActionIcon variant="subtle" color="neutral" size="sm" onClick={() => copy(value)} aria-label={label}>
        {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
      </ActionIcon>
    </Tooltip>
  );
}
