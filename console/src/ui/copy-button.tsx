import { ActionIcon, Tooltip } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";

import { useCopy } from "./use-copy.ts";

interface CopyButtonProps {
  /** A function for a large value, which is serialized only when it is copied. */
  value: string | (() => string);
  label: string;
  /** Hidden until its surroundings, of the class `copy-on-hover`, are hovered or have the focus. */
  isQuiet?: boolean;
}

export function CopyButton({ value, label, isQuiet = false }: CopyButtonProps) {
  const { copied, copy } = useCopy();
  return (
    <Tooltip label={copied ? "Copied" : label}>
      <ActionIcon
        variant="subtle"
        color="neutral"
        size="sm"
        data-copy={isQuiet ? "quiet" : undefined}
        onClick={() => copy(typeof value === "string" ? value : value())}
        aria-label={label}
      >
        {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
      </ActionIcon>
    </Tooltip>
  );
}
