import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, Outlet, useRouter } from "@tanstack/react-router";
import { useEffect } from "react";

import { setUnauthorizedHandler } from "../api/clients.ts";
import { forgetResults } from "../app/forget-results.ts";
import { identityQuery } from "../features/settings/queries.ts";

export const Route = createRootRouteWithContext<{ queryClient: QueryClient }>()({ component: Root });

function Root() {
  const router = useRouter();
  useEffect(() => {
    setUnauthorizedHandler(() => {
      void forgetResults();
      // the cached user is no longer signed in
      router.options.context.queryClient.removeQueries({ queryKey: identityQuery.queryKey });
      const { pathname, href } = router.state.location;
      if (pathname === "/sign-in" || pathname.startsWith("/public/")) return;
      void router.navigate({ to: "/sign-in", search: { next: href }, replace: true });
    });
  }, [router]);
  return <Outlet />;
}
