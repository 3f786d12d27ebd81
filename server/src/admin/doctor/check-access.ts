import { isLoopback, resolveExposure } from "../../identity/exposure.ts";
import { readPolicy } from "../../base/outbound/policy.ts";
import { failure, type Findings, ok, reason, warning } from "./finding.ts";
import { allOptions, type DoctorSettings, readValid } from "./read-settings.ts";

/** Shows which callers come in, and where outbound requests may go. */
export async function* checkAccess({ env, host }: DoctorSettings): Findings {
  const { identity, agent } = await allOptions();
  const settings = readValid(identity, env);
  try {
    const { explanation, keysNeeded } = resolveExposure(settings, host);
    yield settings.auth === "published"
      ? warning("access", explanation, "Make sure that a proxy authenticates callers, or set HEDDLE_AUTH=required.")
      : ok("access", explanation);
    const { browserUrl } = settings;
    if (
      keysNeeded &&
      browserUrl !== undefined &&
      /^http:/i.test(browserUrl) &&
      !isLoopback(new URL(browserUrl).hostname)
    ) {
      yield warning(
        "access.tls",
        `HEDDLE_PUBLIC_URL is ${browserUrl}: keys and sessions cross the network unencrypted.`,
        "Put a proxy with TLS in front, and set HEDDLE_PUBLIC_URL to its https:// address.",
      );
    }
  } catch (error) {
    yield failure("access", reason(error), "No server starts with these settings.");
  }
  const { outboundAllow, corsOrigins } = readValid(agent, env);
  try {
    const { allowed } = readPolicy(outboundAllow, isLoopback(host));
    const broad = allowed.filter((entry) => entry.kind === "network" && entry.bits < 8);
    if (broad.length > 0) {
      yield warning(
        "outbound",
        "HEDDLE_OUTBOUND_ALLOW opens nearly all private addresses to webhooks and exports.",
        "List the hosts or networks that are needed.",
      );
    } else if (allowed.length === 0) yield ok("outbound", "Outbound requests reach public addresses only.");
    else yield ok("outbound", `Outbound requests reach public addresses and: ${outboundAllow}.`);
  } catch (error) {
    yield failure("outbound", reason(error), "Correct HEDDLE_OUTBOUND_ALLOW.");
  }
  yield corsOrigins.length === 0
    ? ok("origins", "No web page of another origin may call the servers.")
    : ok("origins", `Web pages of these origins may call the servers: ${corsOrigins.join(", ")}.`);
}
