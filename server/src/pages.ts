/** Which web pages may reach which server: one rule a space, behind its CORS headers and its browser guard alike. */
import { corsRules } from "./agent/custom-app/cors-rules.ts";
import type { AgentDeps } from "./agent/deps.ts";
import type { BrowserPolicy } from "./base/http/browser-guard.ts";
import { type CrossOriginSettings, originRule } from "./base/http/cross-origin.ts";
import type { ControlDeps } from "./control/deps.ts";
import type { TraceDeps } from "./trace/deps.ts";
import { isFeedbackLink } from "./trace/feedback/token-path.ts";

export type OriginRule = (origin: string) => boolean;

export interface Reach {
  /** Whether requests without a key are served. */
  keyless: boolean;
  /** Whether only this machine can connect. */
  onLoopback: boolean;
}

/** A server of a developer on their own machine. */
export const LOCAL: Reach = { keyless: true, onLoopback: true };

/** Pages that the project or the operator names, and local ones where the server is local too. */
export const agentOrigins = (deps: AgentDeps, { keyless, onLoopback }: Reach): OriginRule =>
  originRule({
    corsOrigins: deps.settings.corsOrigins,
    corsRules: corsRules(deps.project.config.http.cors),
    keyless,
    allowLoopback: onLoopback || keyless,
  });

/** Pages that the operator names. The console is none: its server passes requests on as of the same origin. */
export const platformOrigins = ({ corsOrigins }: CrossOriginSettings, { keyless }: Reach): OriginRule =>
  originRule({ corsOrigins, keyless, allowLoopback: false });

export const agentPages = (deps: AgentDeps, reach: Reach): BrowserPolicy => {
  let project = deps.project;
  let rule = agentOrigins(deps, reach);
  return {
    ...common(deps.settings, reach),
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
  allows: platformOrigins(settings, reach),
  isOpen: isFeedbackLink,
});

/** `isPassedOn`: requests for deployments, whose own servers judge pages. */
export const controlPages = (
  { settings }: ControlDeps,
  reach: Reach,
  isPassedOn: NonNullable<BrowserPolicy["isPassedOn"]>,
): BrowserPolicy => ({ ...common(settings, reach), allows: platformOrigins(settings, reach), isPassedOn });

const common = ({ allowedHosts }: CrossOriginSettings, { keyless, onLoopback }: Reach) => ({
  keyless,
  anyAddress: !onLoopback,
  hosts: new Set(allowedHosts),
});
