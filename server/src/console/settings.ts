import type { Options } from "../base/config/options.ts";
import { processOptions } from "../base/config/process-options.ts";
import { clientIpOptions } from "../base/http/client-ip.ts";
import { connectionOptions } from "../base/http/connection-limits.ts";
import { crossOriginOptions } from "../base/http/cross-origin.ts";

/** Settings of the server that serves the console to browsers. */
export const consoleOptions = {
  logLevel: processOptions.logLevel,
  allowedHosts: crossOriginOptions.allowedHosts,
  ...clientIpOptions,
  ...connectionOptions,
};

export type ConsoleSettings = Options<typeof consoleOptions>;
