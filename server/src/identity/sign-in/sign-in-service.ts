/** Sign-in as part of a running server: dependencies of its routes, and the sweep of expired rows. */
import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import { Poller } from "../../base/polling/poller.ts";
import type { SignInDeps } from "./deps.ts";
import { createOpenIdProvider } from "./openid-provider.ts";
import { PasswordHashing } from "./password-hash.ts";
import { AttemptThrottle } from "./attempt-throttle.ts";
import type { SignInSettings } from "./settings.ts";
import { sweepSignIns } from "./sql.ts";

const SWEEP_EVERY_MS = 600_000;
const SWEEP_BATCH = 1000;

export interface SignInService {
  /** The guard supplies the audit log. */
  deps: Omit<SignInDeps, "audit">;
  stop(): Promise<void>;
}

export function startSignIn(options: {
  sql: Sql;
  log: Log;
  settings: SignInSettings;
  outbound: Pick<Outbound, "fetch">;
}): SignInService {
  const { sql, log, settings, outbound } = options;
  const provider = createOpenIdProvider(settings, outbound, log);
  const deps = { sql, log, settings, passwords: new PasswordHashing(), throttle: new AttemptThrottle(), provider };
  const sweeper = new Poller({
    pass: async () => ((await sweepSignIns(sql, SWEEP_BATCH)) >= SWEEP_BATCH ? 0 : SWEEP_EVERY_MS),
    everyMs: SWEEP_EVERY_MS,
    log,
    failing: "could not delete expired sessions",
  });
  sweeper.start(SWEEP_EVERY_MS);
  return { deps, stop: () => sweeper.stop() };
}
