import { createFileRoute } from "@tanstack/react-router";

import { ExportPage } from "../../features/exports/export-page.tsx";

export const Route = createFileRoute("/_shell/exports/$exportId")({ component: ExportPage });
