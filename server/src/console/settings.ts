import { consoleUrlOptions } from "../base/config/console-url.ts";
import { ConfigError, type Options, type OptionSpec, splitList } from "../base/config/options.ts";
import { processOptions } from "../base/config/process-options.ts";
import { clientIpOptions } from "../base/http/client-ip.ts";
import { connectionOptions } from "../base/http/connection-limits.ts";
import { crossOriginOptions } from "../base/http/cross-origin.ts";

const frameAncestors: OptionSpec<readonly string[]> = {
  env: ["HEDDLE_CONSOLE_FRAME_ANCESTORS"],
  default: [],
  description: "Origins whose pages may show the console in a frame, separated by commas; empty: none.",
  parse(text) {
    const origins = splitList(text);
    const wrong = origins.find((origin) => !URL.canParse(origin) || new URL(origin).origin !== origin);
    if (wrong !== undefined) throw new ConfigError(`must list origins such as https://portal.example, not "${wrong}"`);
    return origins;
  },
};

/** Settings of the server that serves the console to browsers. */
export const consoleOptions = {
  ...consoleUrlOptions,
  frameAncestors,
  logLevel: processOptions.logLevel,
  allowedHosts: crossOriginOptions.allowedHosts,
  ...clientIpOptions,
  ...connectionOptions,
};

export type ConsoleSettings = Options<typeof consoleOptions>;
