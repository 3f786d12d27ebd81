import { Button, type ButtonProps, Tooltip } from "@mantine/core";
import { useId } from "react";
import { VisuallyHidden } from "@mantine/core";
import type { ButtonHTMLAttributes } from "react";

interface PermittedButtonProps extends ButtonProps, Omit<ButtonHTMLAttributes<HTMLButtonElement>, keyof ButtonProps> {
  /** Reason why the button is disabled, such as a missing permission; null for an enabled button. */
  denial: string | null;
}

/** Button that stays focusable while it is disabled, and tells the reason on hover, on focus and to screen readers. */
export function PermittedButton({ denial, onClick, children, ...props }: PermittedButtonProps) {
  const id = useId();
  if (denial === null) {
    return (
      <Button onClick={onClick} {...props}>
        {children}
      </Button>
    );
  }
  return (
    <>
      <Tooltip label={denial} events={{ hover: true, focus: true, touch: true }} multiline maw={300}>
        <Button
          {...props}
          data-disabled
          aria-disabled
          aria-describedby={id}
          onClick={(event) => event.preventDefault()}
        >
          {children}
        </Button>
      </Tooltip>
      <VisuallyHidden id={id}>{denial}</VisuallyHidden>
    </>
  );
}
