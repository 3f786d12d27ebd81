import { extname } from "node:path";

import { z } from "zod";

import { AppError, notFound } from "../../base/errors.ts";
import { outerUrl } from "../../base/http/outer-url.ts";
import { mountPrefix } from "../project/mount-prefix.ts";
import { agentRoute, type AgentRoute } from "../custom-auth/agent-route.ts";
import type { AgentDeps } from "../deps.ts";
import { globalName } from "./bundle.ts";

const TYPES: Record<string, string> = { ".js": "text/javascript; charset=UTF-8", ".css": "text/css; charset=UTF-8" };
const agentParams = z.object({ agent: z.string() });

/** Generative UI. Only where langgraph.json has `ui`. */
export function uiRoutes(deps: Pick<AgentDeps, "ui" | "project" | "settings" | "log">): AgentRoute[] {
  const { config } = deps.project;
  if (!config.ui || Object.keys(config.ui).length === 0) return [];
  const prefix = mountPrefix(deps);

  async function builtFiles(agent: string): Promise<Map<string, Uint8Array>> {
    const building = deps.ui.bundleOf(agent);
    if (!building) throw notFound(`UI not found for agent "${agent}"`);
    try {
      return await building;
    } catch (error) {
      deps.log.error(`The UI of "${agent}" could not be built: ${(error as Error).message}`);
      throw new AppError(500, `The UI of "${agent}" could not be built; see the server's log.`, { cause: error });
    }
  }

  return [
    agentRoute({
      tag: "Generative UI",
      method: "POST",
      path: "/ui/:agent",
      permission: "assistants:read",
      audit: "none",
      // code for browsers: the same for all callers
      auth: "handler",
      summary: "Get HTML that loads a UI component of an agent",
      params: agentParams,
      body: z.object({ name: z.string().min(1).max(200) }),
      out: { 200: "text/html" },
      errors: [400],
      async handler({ params: { agent }, body: { name }, c }) {
        const files = await builtFiles(agent);
        const { protocol, host, prefix: outer } = outerUrl(c);
        // without a protocol the URL takes the page's, which is right where a proxy does not name it
        const scheme = /^(localhost|127\.0\.0\.1)(:|$)/.test(host) ? "http:" : protocol === "https:" ? protocol : "";
        const base = `${scheme}//${host}${outer}${prefix}/ui/${encodeURIComponent(agent)}`;
        const styles = [...files.keys()].filter((file) => file.endsWith(".css"));
        const links = styles.map((file) => `<link rel="stylesheet" href="${base}/${file}" />`);
        const call = `${globalName(agent)}.render(${attribute(JSON.stringify(name))}, "{{shadowRootId}}")`;
        const script = `<script src="${base}/entrypoint.js" onload='${call}'></script>`;
        return c.body([...links, script].join("\n"), 200, { "Content-Type": "text/html; charset=UTF-8" });
      },
    }),
    agentRoute({
      tag: "Generative UI",
      method: "GET",
      path: "/ui/:agent/:file",
      permission: "public",
      publicBecause: "pages load scripts and styles without a key; the files are code for browsers and contain no data",
      summary: "Get a file of an agent's UI components",
      params: agentParams.extend({ file: z.string() }),
      out: { 200: ["text/javascript", "text/css"] },
      async handler({ params: { agent, file }, c }) {
        const bytes = (await builtFiles(agent)).get(file);
        if (!bytes) throw notFound(`There is no ${file} in the UI of agent "${agent}"`);
        return c.body(bytes as Uint8Array<ArrayBuffer>, 200, {
          "Content-Type": TYPES[extname(file)] ?? "application/octet-stream",
          "Cache-Control": "no-cache",
          // loaded by pages of other origins
          "Cross-Origin-Resource-Policy": "cross-origin",
        });
      },
    }),
  ];
}

/** Escapes text for an attribute in single quotes. */
const attribute = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("'", "&#39;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
