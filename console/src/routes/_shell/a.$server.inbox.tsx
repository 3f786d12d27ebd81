import { createFileRoute } from "@tanstack/react-router";

import { Inbox } from "../../features/inbox/inbox.tsx";

export const Route = createFileRoute("/_shell/a/$server/inbox")({ component: Inbox });
