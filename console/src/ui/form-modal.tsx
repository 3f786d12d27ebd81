import { Alert, Button, Group, Modal, Stack } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useFocusBack } from "./use-focus-back.ts";

interface FormModalProps {
  title: string;
  /** Verb on the button. */
  action: string;
  isReady?: boolean;
  /** Submits the form, which shows its failure. */
  onSubmit: () => Promise<unknown>;
  onClose: () => void;
  children: ReactNode;
}

export function FormModal({ title, action, isReady = true, onSubmit, onClose, children }: FormModalProps) {
  useFocusBack();
  const submit = useMutation({ mutationFn: onSubmit });
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ title: "Close" }} size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) submit.mutate();
        }}
      >
        <Stack gap="sm">
          {children}
          {submit.error && (
            <Alert color="red" role="alert">
              {submit.error.message}
            </Alert>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={!isReady} loading={submit.isPending}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
