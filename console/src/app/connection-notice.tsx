import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { ConnectionState } from "../ui/problem.tsx";
import { retryLost, staleSince, watchServers } from "./lost-servers.ts";

const RETRY_MS = 3_000;
/** Time for which the notice about the recovery is shown. */
const BACK_MS = 4_000;

/** Shows a notice while a server of the page does not respond, retries, and shows when it responds again. */
export function ConnectionNotice() {
  const cache = useQueryClient().getQueryCache();
  const [state, setState] = useState<"fine" | "lost" | "back">("fine");
  useEffect(() => watchServers(cache, (isLost) => setState(isLost ? "lost" : "back")), [cache]);
  useEffect(() => {
    if (state === "fine") return;
    if (state === "back") {
      const timer = setTimeout(() => setState("fine"), BACK_MS);
      return () => clearTimeout(timer);
    }
    const timer = setInterval(() => void retryLost(cache), RETRY_MS);
    return () => clearInterval(timer);
  }, [state, cache]);
  return (
    <div
      role="status"
      style={{
        position: "fixed",
        left: "50%",
        // above the page's controls, which are at the bottom of the playground
        top: 56,
        transform: "translateX(-50%)",
        zIndex: 300,
        maxWidth: "92vw",
      }}
    >
      {state !== "fine" && (
        <ConnectionState isLost={state === "lost"} since={state === "lost" ? staleSince(cache) : null} />
      )}
    </div>
  );
}
