/**
 * Origin policy: which web pages may call which server. One rule per space, for its CORS headers and its browser guard.
 */
import { corsRules } from "./agent/custom-app/cors-rules.ts";
import { errorFormat } from "./agent/project/error-format.ts";
import type { AgentDeps } from "./agent/deps.ts";
import type { BrowserPolicy } from "./base/http/browser-guard.ts";
import { type CrossOriginSettings, originRule } from "./base/http/cross-origin.ts";
import type { ControlDeps } from "./control/deps.ts";
import type { TraceDeps } from "./trace/deps.ts";
import { isFeedbackLink } from "./trace/feedback-tokens/token-path.ts";
import { isForMcpClients } from "./trace/mcp/paths.ts";

export type OriginRule = (origin: string) => boolean;

export interface Reach {
  /** Whether requests without a key are served. */
  keyless: boolean;
  /** Whether only this machine can connect. */
  onLoopback: boolean;
}

/** Reach of a developer's local server. */
export const LOCAL: Reach = { keyless: true, onLoopback: true };

/** Allows pages named by the project or the operator, and local pages when the server is local too. */
export const agentOrigins = (deps: AgentDeps, { keyless, onLoopback }: Reach): OriginRule =>
  originRule({
    corsOrigins: deps.settings.corsOrigins,
    corsRules: corsRules(deps.project.config.http.cors),
    keyless,
    allowLoopback: onLoopback || keyless,
  });

/** Allows pages named by the operator. The console needs none: its server proxies requests as same-origin. */
export const platformOrigins = ({ corsOrigins }: CrossOriginSettings, { keyless }: Reach): OriginRule =>
  originRule({ corsOrigins, keyless, allowLoopback: false });

export const agentPages = (deps: AgentDeps, reach: Reach): BrowserPolicy => {
  let project = deps.project;
  let rule = agentOrigins(deps, reach);
  return {
    ...common(deps.settings, reach),
    errors: (userAgent) => errorFormat(deps.settings.errors, userAgent),
    allows(origin) {
      if (deps.project !== project) {
        project = deps.project;
        rule = agentOrigins(deps, reach);
      }
      return rule(origin);
    },
  };
};

export const tracePages = ({ settings }: TraceDeps, reach: Reach): BrowserPolicy => ({
  ...common(settings, reach),
  errors: () => settings.errors,
  allows: platformOrigins(settings, reach),
  isOpen: openToPages(reach),
});

/** Paths of the trace platform that pages of any origin may call. A keyless server would serve them traces. */
export const openToPages =
  ({ keyless }: Reach) =>
  (path: string): boolean =>
    isFeedbackLink(path) || (!keyless && isForMcpClients(path));

/**
 * Policy of the control plane. `isPassedOn` matches requests proxied to deployments, whose servers apply their own
 * policy.
 */
export const controlPages = (
  { settings }: { settings: CrossOriginSettings & Partial<Pick<ControlDeps["settings"], "errors">> },
  reach: Reach,
  isPassedOn: NonNullable<BrowserPolicy["isPassedOn"]>,
): BrowserPolicy => ({
  ...common(settings, reach),
  errors: () => settings.errors ?? "detail",
  allows: platformOrigins(settings, reach),
  isPassedOn,
});

const common = ({ allowedHosts }: CrossOriginSettings, { keyless, onLoopback }: Reach) => ({
  keyless,
  anyAddress: !onLoopback,
  hosts: new Set(allowedHosts),
});
