import { notifications } from "@mantine/notifications";

/** `onError: tellFailure("The cron was not saved")`; stays until it is closed, because it says what went wrong. */
export const tellFailure =
  (what: string) =>
  (error: Error): void =>
    void notifications.show({ title: what, message: error.message, color: "red", autoClose: false });

export const tellDone = (message: string): void => void notifications.show({ message, color: "teal" });
