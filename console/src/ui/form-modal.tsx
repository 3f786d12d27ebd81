import { Alert, Button, Group, Modal, Stack } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { useFocusBack } from "./use-focus-back.ts";

interface FormModalProps<Values> {
  title: string;
  /** Verb on the button. */
  action: string;
  form: UseFormReturnType<Values>;
  isReady?: boolean;
  size?: "md" | "lg";
  /** Title of the alert that shows a failure. */
  failure?: string;
  onSubmit: (values: Values) => Promise<unknown>;
  onClose: () => void;
  children: ReactNode;
}

/** Dialog with a form, which stays open and shows the error when `onSubmit` fails. Mount it when it opens. */
export function FormModal<Values>({ title, action, form, isReady = true, ...props }: FormModalProps<Values>) {
  const { size = "lg", failure, onSubmit, onClose, children } = props;
  useFocusBack();
  const submit = useMutation({ mutationFn: onSubmit });
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ title: "Close" }} size={size}>
      <form
        onSubmit={form.onSubmit((values) => {
          if (isReady) submit.mutate(values);
        })}
      >
        <Stack gap="sm">
          {children}
          {submit.error && (
            <Alert
              color="danger"
              role="alert"
              title={failure}
              style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}
            >
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
