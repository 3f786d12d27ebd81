import { type Options, text } from "../base/config/options.ts";
import { processOptions } from "../base/config/process-options.ts";
import { clientIpOptions } from "../base/http/client-ip.ts";
import { connectionOptions } from "../base/http/connection-limits.ts";

/** Settings of the server that gives the console to browsers. */
export const consoleOptions = {
  logLevel: processOptions.logLevel,
  consoleHosts: text<string | undefined>({
    env: ["HEDDLE_CONSOLE_HOSTS"],
    default: undefined,
    description:
      "Names under which the console is reached besides loopback and addresses, with commas between: " +
      "console.example. A request for another name gets 403 while the servers behind need no key.",
  }),
  ...clientIpOptions,
  ...connectionOptions,
};

export type ConsoleSettings = Options<typeof consoleOptions>;
