import { consoleUrlOptions } from "../base/config/console-url.ts";
import { ConfigError, type Options, type OptionSpec } from "../base/config/options.ts";
import { processOptions } from "../base/config/process-options.ts";
import { clientIpOptions } from "../base/http/client-ip.ts";
import { connectionOptions } from "../base/http/connection-limits.ts";
import { crossOriginOptions, parseOrigins } from "../base/http/cross-origin.ts";

/** Settings of the server that serves the console to browsers. */
export const consoleOptions = {
  logLevel: processOptions.logLevel,
  allowedHosts: crossOriginOptions.allowedHosts,
  ...consoleUrlOptions,
  embedOrigins: {
    env: ["HEDDLE_CONSOLE_EMBED_ORIGINS"],
    default: [],
    description:
      "Origins, separated by commas, whose pages may show the console in a frame, such as https://intranet.example. " +
      "Sessions work in frames of pages on the same site only.",
    parse: parseEmbedOrigins,
  } satisfies OptionSpec<string[]> as OptionSpec<readonly string[]>,
  ...clientIpOptions,
  ...connectionOptions,
};

export type ConsoleSettings = Options<typeof consoleOptions>;

/** Any page could let a user click in the console unseen: each origin is named. */
function parseEmbedOrigins(text: string): string[] {
  const origins = parseOrigins(text);
  if (origins.includes("*")) throw new ConfigError("must name origins such as https://intranet.example, not *");
  return origins;
}
