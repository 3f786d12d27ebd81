import { createFileRoute } from "@tanstack/react-router";

import { mayEnter } from "../app/may-enter.ts";
import { Shell } from "../app/shell.tsx";
import { PageLoader } from "../app/page-loader.tsx";

export const Route = createFileRoute("/_shell")({
  // pages send no requests before the user is signed in
  beforeLoad: ({ context, location }) => mayEnter(context.queryClient, location.href),
  pendingComponent: PageLoader,
  component: Shell,
});
