import { createFileRoute } from "@tanstack/react-router";

import { Page } from "../../ui/page.tsx";

export const Route = createFileRoute("/_shell/datasets/")({ component: () => <Page title="Datasets">{null}</Page> });
