import type { Context } from "hono";
import { z } from "zod";

import { AppError, unauthorized } from "../../base/errors.ts";
import { route, type Route } from "../../base/http/route.ts";
import { parseJson } from "../../base/json-structure.ts";
import { hosted } from "../api-host.ts";
import type { ControlDeps } from "../deps.ts";
import { canonicalUrl } from "../git/repository.ts";
import { integrationParams } from "../integrations/schema.ts";
import { integrationOfAnybody, webhookSecretKey } from "../integrations/sql.ts";
import { selectWatches, wakeWatches } from "../watches/sql.ts";
import { isSame, isSigned, readPush } from "./push-event.ts";

const shared = { tag: "Webhooks", errorFamily: "validation", permission: "public", audit: "none" } as const;

/** Hosts list the files of each commit. Bodies of public routes share a small budget nonetheless. */
const MAX_BYTES = 1024 * 1024;

/** Number of deployments that follow the pushed branch. */
const pushAccepted = z.object({ deployments: z.int() });

/**
 * Receives push notifications of Git hosts. Their content is not built: they only trigger a poll of the branch, so that
 * repeated, late or reordered messages have no effect.
 */
export function webhookRoutes(deps: ControlDeps): Route[] {
  const { sql, secrets } = deps;

  type Read = () => Promise<Uint8Array>;

  /** `isTrue` reads the body only if needed, so that a request rejected without it is not read at all. */
  async function hear(
    c: Context,
    id: string,
    isTrue: (secret: string, read: Read) => boolean | Promise<boolean>,
    isPush: boolean,
  ) {
    const integration = await integrationOfAnybody(sql, id);
    const secret = integration && (await secrets.get(webhookSecretKey(id)));
    const read = async () => new Uint8Array(await c.req.arrayBuffer());
    // the same response in both cases
    if (!integration || !secret || !(await isTrue(secret, read))) {
      throw unauthorized("The signature or token is invalid.");
    }
    const body = await read();
    if (!/^application\/json\b/i.test(c.req.header("content-type") ?? "")) {
      throw new AppError(
        415,
        "Webhooks must have the content type application/json. Change it in the host's webhook settings.",
      );
    }
    const push = isPush ? readPush(parse(body)) : null;
    if (!push) return c.json({ deployments: 0 }, 200);
    const watches = await selectWatches(sql, integration.tenant_id, integration.id, push.branch);
    const matching = watches.filter(({ repo_url }) => push.repositories.includes(canonicalUrl(repo_url)));
    await wakeWatches(
      sql,
      matching.map((target) => target.deployment_id),
    );
    deps.pushes.wake();
    return c.json({ deployments: matching.length }, 202);
  }

  return [
    route({
      ...shared,
      ...hosted("/webhooks/github/:integration_id"),
      publicBecause: "the body is signed with the integration's secret (X-Hub-Signature-256)",
      method: "POST",
      summary: "Receive a push webhook of GitHub or Gitea",
      params: integrationParams,
      reads: ["application/json"],
      maxBodyBytes: MAX_BYTES,
      out: { 200: pushAccepted, 202: pushAccepted },
      errors: [400, 401, 415],
      handler({ params, c }) {
        const signature = c.req.header("x-hub-signature-256");
        const event = c.req.header("x-github-event") ?? c.req.header("x-gitea-event");
        const isTrue = async (secret: string, read: Read) =>
          signature !== undefined && isSigned(await read(), secret, signature);
        return hear(c, params.integration_id, isTrue, event === "push");
      },
    }),
    route({
      ...shared,
      ...hosted("/webhooks/gitlab/:integration_id"),
      publicBecause: "it carries the integration's secret (X-Gitlab-Token)",
      method: "POST",
      summary: "Receive a push webhook of GitLab",
      params: integrationParams,
      reads: ["application/json"],
      maxBodyBytes: MAX_BYTES,
      out: { 200: pushAccepted, 202: pushAccepted },
      errors: [400, 401, 415],
      handler({ params, c }) {
        const token = c.req.header("x-gitlab-token") ?? "";
        const isPush = c.req.header("x-gitlab-event") === "Push Hook";
        return hear(c, params.integration_id, (secret) => isSame(token, secret), isPush);
      },
    }),
  ];
}

function parse(body: Uint8Array): unknown {
  try {
    return parseJson(Buffer.from(body).toString("utf8"));
  } catch (error) {
    throw error instanceof AppError ? error : new AppError(400, "The body is not JSON.");
  }
}
