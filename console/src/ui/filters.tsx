import { Button } from "@mantine/core";
import { IconAdjustmentsHorizontal } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";

import classes from "./filters.module.css";

interface FiltersProps {
  /** Number of filters that are set, which the button shows while they are hidden. */
  active?: number;
  children: ReactNode;
}

/** Filters of a list. On a phone, where they would fill the first screen, a button shows them. */
export function Filters({ active = 0, children }: FiltersProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        variant="default"
        size="xs"
        className={classes["button"]}
        aria-expanded={isOpen}
        leftSection={<IconAdjustmentsHorizontal size={14} aria-hidden />}
        onClick={() => setOpen(!isOpen)}
      >
        {active > 0 ? `Filters (${active})` : "Filters"}
      </Button>
      <div className={classes["filters"]} data-open={isOpen || undefined}>
        {children}
      </div>
    </>
  );
}
