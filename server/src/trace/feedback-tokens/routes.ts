import type { Context } from "hono";
import { z } from "zod";

import { AppError, notFound, unprocessable } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { uuid } from "../../base/http/fields.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { publicUrl } from "../public-url.ts";
import { parseExpiry, issueFeedbackTokens, tokenOnWire } from "./issue-tokens.ts";
import { readParameters, submitFeedback, validToken } from "./submit-feedback.ts";
import { feedbackPage } from "./token-page.ts";
import * as schema from "./schema.ts";
import * as rows from "./sql.ts";

const tag = "Feedback";
const publicBecause = "the token in the path, random and limited in time, is the credential";

export function feedbackTokenRoutes(deps: TraceDeps): Route[] {
  const { sql, settings } = deps;

  return [
    route({
      tag,
      method: "POST",
      ...v1("/feedback/tokens"),
      permission: "feedback:create",
      auditHides: ["id"],
      summary: "Issue one pre-signed feedback token, or several",
      body: schema.createTokensBody,
      out: { 200: z.union([schema.token, z.array(schema.token)]) },
      async handler({ body, principal, c }) {
        const issues = [body].flat().map((item) => ({ ...item, expires_at: parseExpiry(item) }));
        const tokens = await issueFeedbackTokens(sql, publicUrl(settings, c), principal.workspaceId, issues);
        return c.json(Array.isArray(body) ? tokens : tokens[0]);
      },
    }),
    route({
      tag,
      method: "GET",
      ...v1("/feedback/tokens"),
      permission: "feedback:create",
      summary: "List the feedback tokens issued for a run",
      query: schema.listTokensQuery,
      out: { 200: z.array(schema.token) },
      async handler({ query, principal, c }) {
        const tokens = await rows.listTokens(sql, principal.workspaceId, query.run_id, query);
        return c.json(tokens.map((row) => tokenOnWire(publicUrl(settings, c), row)));
      },
    }),
    route({
      tag,
      method: "DELETE",
      ...v1("/feedback/tokens/:token"),
      permission: "feedback:create",
      auditHides: ["token"],
      summary: "Revoke a feedback token; its later uses get 410",
      params: z.object({ token: uuid }),
      out: { 204: null },
      async handler({ params, principal, c }) {
        const revoked = await rows.revokeToken(sql, principal.workspaceId, params.token);
        if (!revoked) throw notFound("Feedback token not found");
        return c.body(null, 204);
      },
    }),
    route({
      tag,
      method: "GET",
      ...v1("/feedback/tokens/:token"),
      permission: "public",
      publicBecause,
      summary: "Submit feedback by a link",
      params: schema.tokenParams,
      query: schema.submitQuery,
      out: { 200: [schema.acknowledgement, "text/html"] },
      errors: [410],
      handler: ({ params, query, c }) =>
        answer(c, async () => {
          const token = await validToken(deps, params.token);
          // checking whether the link works is not a judgement
          if (c.req.method === "HEAD") return;
          const judgement = readParameters(query);
          // previews of messages open a link without the parameters that its buttons add
          if (Object.values(judgement).every((part) => part === null)) throw unprocessable(NO_JUDGEMENT);
          await submitFeedback(deps, token, judgement, true);
        }),
    }),
    route({
      tag,
      method: "POST",
      ...v1("/feedback/tokens/:token"),
      permission: "public",
      publicBecause,
      summary: "Submit feedback by a token, as JSON or as an HTML form",
      params: schema.tokenParams,
      body: schema.submitBody,
      out: { 200: [schema.acknowledgement, "text/html"] },
      errors: [410, 415],
      handler: ({ params, body, c }) =>
        answer(c, async () => {
          const type = c.req.header("content-type") ?? "";
          const isForm = FORM.test(type);
          if (type !== "" && !isForm && !/json|^text\/plain/i.test(type))
            throw new AppError(415, "The body must be JSON, or a form as application/x-www-form-urlencoded.");
          const judgement = isForm ? readParameters(schema.submitQuery.parse(await readForm(c))) : body;
          await submitFeedback(deps, await validToken(deps, params.token), judgement, false);
        }),
    }),
  ];
}

const FORM = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;
const NO_JUDGEMENT = "Nothing was recorded: add score, value, comment or correction to the link, such as ?score=1.";

const readForm = async (c: Context) => Object.fromEntries(new URLSearchParams(await c.req.text()));

/** Headers for all responses, successful or not: readable by pages of any origin, never cached. */
const HEADERS = { "Access-Control-Allow-Origin": "*", "Cache-Control": "no-store", Vary: "Accept" };

async function answer(c: Context, work: () => Promise<void>): Promise<Response> {
  const isPerson = c.req.header("accept")?.includes("text/html") ?? false;
  // browsers prefetch links speculatively; 503 makes them retry on a real navigation (Sec-Purpose, HTML standard)
  if (/prefetch|prerender/i.test(c.req.header("sec-purpose") ?? c.req.header("purpose") ?? "")) {
    return c.body(null, 503, HEADERS);
  }
  try {
    await work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (isPerson) return feedbackPage(error.status, "Feedback not recorded", error.message, HEADERS);
    throw new AppError(error.status, error.message, { headers: { ...error.headers, ...HEADERS }, cause: error });
  }
  if (isPerson) return feedbackPage(200, "Thank you", "Your feedback was recorded.", HEADERS);
  return c.json({ message: "Feedback recorded." }, 200, HEADERS);
}
