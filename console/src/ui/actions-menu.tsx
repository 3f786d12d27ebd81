import { ActionIcon, Menu } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";
import type { ReactNode } from "react";

interface ActionsMenuProps {
  /** Label of the button for screen readers. */
  label: string;
  /** Whether the button has no frame, as in rows. */
  isQuiet?: boolean;
  /** `Menu.Item`s. */
  children: ReactNode;
}

/** Button with three dots, which opens the seldom needed actions. */
export const ActionsMenu = ({ label, isQuiet = false, children }: ActionsMenuProps) => (
  <Menu position="bottom-end">
    <Menu.Target>
      <ActionIcon
        {...(isQuiet ? { variant: "subtle", color: "neutral" } : { variant: "default", size: 30 })}
        aria-label={label}
      >
        <IconDots size={16} />
      </ActionIcon>
    </Menu.Target>
    <Menu.Dropdown>{children}</Menu.Dropdown>
  </Menu>
);
