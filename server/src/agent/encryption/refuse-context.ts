import type { Context } from "hono";

import { unprocessable } from "../../base/errors.ts";
import type { Route } from "../../base/http/route.ts";

const HEADER = "X-Encryption-Context";

/**
 * Rejects requests with the header by which clients of LangGraph's servers choose keys for each request: what is stored
 * would be encrypted with the installation's keys, and the caller would believe otherwise.
 */
export function refuseEncryptionContext<R extends Route>(routes: R[]): R[] {
  return routes.map((route) => {
    if (route.permission === "public") return route;
    const handle = route.handler as unknown as (input: { c: Context }) => Response | Promise<Response>;
    const handler = (input: { c: Context }) => {
      if (input.c.req.header(HEADER) !== undefined)
        throw unprocessable(
          `${HEADER}: keys are not chosen by request. Stored state is encrypted with the installation's keys ` +
            "(docs/encryption.md). Remove the header.",
        );
      return handle(input);
    };
    return { ...route, handler: handler as unknown as R["handler"] };
  });
}
