import { IconPlus } from "@tabler/icons-react";

import { PermittedButton } from "./permitted-button.tsx";

interface NewButtonProps {
  /** Reason why the reader may not; null: they may. */
  denial?: string | null;
  onClick: () => void;
  children: string;
}

/** Button that begins something new: a page's first action. */
export const NewButton = ({ denial = null, onClick, children }: NewButtonProps) => (
  <PermittedButton denial={denial} size="xs" leftSection={<IconPlus size={14} aria-hidden />} onClick={onClick}>
    {children}
  </PermittedButton>
);
