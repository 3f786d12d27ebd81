import { createFileRoute } from "@tanstack/react-router";

import { Page } from "../ui/page.tsx";

export const Route = createFileRoute("/public/$token/d")({ component: () => <Page title="Shared">{null}</Page> });
