import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, Outlet, useRouter } from "@tanstack/react-router";
import { useEffect } from "react";

import { whenUnauthorized } from "../api/clients.ts";
import { whoQuery } from "../features/settings/queries.ts";

export const Route = createRootRouteWithContext<{ queryClient: QueryClient }>()({ component: Root });

function Root() {
  const router = useRouter();
  useEffect(() => {
    whenUnauthorized(() => {
      // the cached user is no longer signed in
      router.options.context.queryClient.removeQueries({ queryKey: whoQuery.queryKey });
      const { pathname, href } = router.state.location;
      if (pathname === "/sign-in" || pathname.startsWith("/public/")) return;
      void router.navigate({ to: "/sign-in", search: { next: href }, replace: true });
    });
  }, [router]);
  return <Outlet />;
}
