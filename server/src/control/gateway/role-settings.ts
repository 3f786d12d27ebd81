import { choice, type Options } from "../../base/config/options.ts";
import { processOptions } from "../../base/config/process-options.ts";
import { embeddedPostgresOptions } from "../../base/db/settings.ts";
import { bodyOptions } from "../../base/http/body-gate.ts";
import { clientIpOptions } from "../../base/http/client-ip.ts";
import { connectionOptions } from "../../base/http/connection-limits.ts";
import { crossOriginOptions } from "../../base/http/cross-origin.ts";
import { addressOptions } from "../../identity/exposure.ts";
import { gatewayOptions } from "./settings.ts";

/** Settings of a standalone gateway, all of which the control plane with its own gateway has too. */
export const gatewayRoleOptions = {
  errors: choice({
    env: ["HEDDLE_CONTROL_ERRORS"],
    default: "detail",
    of: ["text", "detail"],
    description: 'Format of error bodies for unknown paths: bare text, or {"detail": message}.',
  }),
  ...processOptions,
  ...embeddedPostgresOptions,
  ...addressOptions,
  ...clientIpOptions,
  ...bodyOptions,
  ...connectionOptions,
  ...crossOriginOptions,
  ...gatewayOptions,
};

export type GatewayRoleSettings = Options<typeof gatewayRoleOptions>;
