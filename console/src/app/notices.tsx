import { Notifications } from "@mantine/notifications";

import "@mantine/core/styles/Notification.css";
import "@mantine/notifications/styles.css";

/** Notifications. Load it with the first one. */
export function Notices() {
  return <Notifications position="bottom-right" />;
}
