import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import "@mantine/core/styles/default-css-variables.css";
import "./app/mantine.css";
import "./app/fonts/fonts.css";
import "./app/tokens.css";
import "./app/app.css";

import { takeCsrfToken } from "./api/credentials.ts";
import { canKeepResults } from "./app/forget-results.ts";
import { LazyPart } from "./app/lazy-part.tsx";
import { styleNonce } from "./app/style-nonce.ts";
import { queryClient } from "./app/query-client.ts";
import { reloadWhenReplaced } from "./app/reload-when-replaced.ts";
import { router } from "./app/router.tsx";
import { cssVariables, theme } from "./app/theme.ts";
import { firstNotification } from "./ui/notify.ts";

/** Time after which the page loads what it needs without its server: notices, and what keeps its data. */
const KEEP_AFTER_MS = 3_000;

const pause = () => new Promise<void>((done) => setTimeout(done, KEEP_AFTER_MS));
const notices = async () => {
  await Promise.race([firstNotification, pause()]);
  for (;;) {
    try {
      return { Part: (await import("./app/notices.tsx")).Notices };
    } catch {
      await pause();
    }
  }
};

reloadWhenReplaced();
takeCsrfToken();
const load = () => import("./app/offline.ts");
// the service worker says that the page was opened without its server
if (canKeepResults() && document.documentElement.dataset["offline"] !== undefined) {
  void load()
    .then(({ restoreResults }) => restoreResults(queryClient))
    .catch(() => {})
    .finally(render);
} else render();
// what the page itself loads comes first
if (canKeepResults()) {
  setTimeout(() => {
    void load()
      .then(({ keepForOffline }) => keepForOffline(queryClient))
      .catch(() => {});
  }, KEEP_AFTER_MS);
}

function render(): void {
  createRoot(document.getElementById("root")!).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={cssVariables}
        defaultColorScheme="auto"
        {...(styleNonce !== undefined && { getStyleNonce: () => styleNonce! })}
      >
        <LazyPart load={notices} />
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
