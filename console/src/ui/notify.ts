import type { NotificationData } from "@mantine/notifications";

let announceFirst: () => void;
/** Resolves with the first notification; until then, pages need neither the library nor its styles. */
export const firstNotification = new Promise<void>((resolve) => (announceFirst = resolve));

async function show(notification: NotificationData): Promise<void> {
  announceFirst();
  const { notifications } = await import("@mantine/notifications");
  notifications.show({ closeButtonProps: { "aria-label": "Close" }, ...notification });
}

/**
 * Shows an error: `onError: notifyFailure("Could not save the cron")`. It stays until closed, because it gives the reason.
 */
export const notifyFailure =
  (title: string) =>
  (error: Error): void =>
    void show({ title, message: error.message, color: "danger", autoClose: false });

export const notifyDone = (message: string): void => void show({ message, color: "success" });
