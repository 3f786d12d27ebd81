import type { NotificationData } from "@mantine/notifications";

/** They come with the first one that is shown: the first page does without. */
async function show(notification: NotificationData): Promise<void> {
  const { notifications } = await import("@mantine/notifications");
  notifications.show({ closeButtonProps: { "aria-label": "Close" }, ...notification });
}

/** `onError: tellFailure("The cron was not saved")`; stays until it is closed, because it says what went wrong. */
export const tellFailure =
  (what: string) =>
  (error: Error): void =>
    void show({ title: what, message: error.message, color: "red", autoClose: false });

export const tellDone = (message: string): void => void show({ message, color: "teal" });
