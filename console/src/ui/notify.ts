import type { NotificationData } from "@mantine/notifications";

/** Loads the notifications with the first one that is shown, so that the first page does not need them. */
async function show(notification: NotificationData): Promise<void> {
  const { notifications } = await import("@mantine/notifications");
  notifications.show({ closeButtonProps: { "aria-label": "Close" }, ...notification });
}

/**
 * Shows an error: `onError: notifyFailure("Could not save the cron")`. It stays until closed, because it gives the reason.
 */
export const notifyFailure =
  (title: string) =>
  (error: Error): void =>
    void show({ title, message: error.message, color: "red", autoClose: false });

export const notifyDone = (message: string): void => void show({ message, color: "teal" });
