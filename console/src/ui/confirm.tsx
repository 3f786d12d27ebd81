import { Alert, Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";

export interface Confirmation {
  title: string;
  /** Text on what will be deleted, and what stays. */
  body: ReactNode;
  /** Verb on the button: `Delete`. */
  action: string;
  /** Whether nothing is lost by it: the button is not red. */
  isHarmless?: boolean;
  /** Label of the button that closes the dialog; default `Cancel`. */
  dismiss?: string;
  /** Text to type for confirmation, such as the name of the deleted item; for irreversible actions. */
  typed?: string;
  /** Action executed while the dialog is open; its failure is shown there, and the dialog stays open. */
  run: () => Promise<unknown>;
}

/** Returns `const { confirm, dialog } = useConfirm()`: `dialog` is rendered anywhere on the page, `confirm` opens it. */
export function useConfirm(): { confirm: (confirmation: Confirmation) => void; dialog: ReactNode } {
  const [confirmation, setConfirmation] = useState<Confirmation | null>(null);
  const [isOpen, setOpen] = useState(false);
  const confirm = (next: Confirmation) => {
    setConfirmation(next);
    setOpen(true);
  };
  // the confirmation is kept while the dialog fades out, so that its text does not vanish first
  const dialog = confirmation && (
    <Modal
      opened={isOpen}
      onClose={() => setOpen(false)}
      title={confirmation.title}
      closeButtonProps={{ title: "Close" }}
    >
      <ConfirmForm
        key={confirmation.title + String(isOpen)}
        confirmation={confirmation}
        onDone={() => setOpen(false)}
      />
    </Modal>
  );
  return { confirm, dialog };
}

function ConfirmForm({ confirmation, onDone }: { confirmation: Confirmation; onDone: () => void }) {
  const [typed, setTyped] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const isConfirmed = confirmation.typed === undefined || typed.trim() === confirmation.typed;
  const confirm = async () => {
    setBusy(true);
    setError(null);
    try {
      await confirmation.run();
      onDone();
    } catch (problem) {
      setError((problem as Error).message);
    }
    setBusy(false);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isConfirmed && !isBusy) void confirm();
      }}
    >
      <Stack gap="sm">
        <Text size="sm" component="div">
          {confirmation.body}
        </Text>
        {confirmation.typed !== undefined && (
          <TextInput
            label={`Type ${confirmation.typed} to confirm`}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
        )}
        {error !== null && (
          <Alert color="danger" role="alert">
            {error}
          </Alert>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onDone}>
            {confirmation.dismiss ?? "Cancel"}
          </Button>
          <Button
            type="submit"
            {...(!confirmation.isHarmless && { color: "danger" as const })}
            disabled={!isConfirmed}
            loading={isBusy}
          >
            {confirmation.action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
