import { Notifications } from "@mantine/notifications";

import "@mantine/notifications/styles.css";

/** Notifications. Load it lazily: the first page has none. */
export function Notices() {
  return <Notifications position="bottom-right" />;
}
