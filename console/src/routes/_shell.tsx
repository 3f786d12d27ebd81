import { createFileRoute } from "@tanstack/react-router";

import { Shell } from "../app/shell.tsx";

export const Route = createFileRoute("/_shell")({ component: Shell });
