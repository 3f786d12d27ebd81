import { createFileRoute } from "@tanstack/react-router";

import { SharedDatasetPage } from "../features/sharing/shared-dataset-page.tsx";

export const Route = createFileRoute("/public/$token/d")({ component: SharedDatasetPage });
