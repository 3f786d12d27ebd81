import { createFileRoute } from "@tanstack/react-router";

import { Page } from "../ui/page.tsx";

export const Route = createFileRoute("/public/$token/r")({ component: () => <Page title="Shared">{null}</Page> });
