import { integer, text } from "../../base/config/options.ts";

/** Settings of alerts. */
export const alertOptions = {
  alertConcurrency: integer({
    env: ["HEDDLE_ALERT_CONCURRENCY"],
    default: 3,
    min: 0,
    max: 32,
    description:
      "Maximum number of alert rules that this process evaluates concurrently; the last slot is for a workspace that " +
      "has none. 0: other processes evaluate.",
  }),
  alertLeaseSeconds: integer({
    env: ["HEDDLE_ALERT_LEASE_SECONDS"],
    default: 30,
    min: 1,
    max: 600,
    description: "Seconds after which another process evaluates the alert rule of one that was killed.",
  }),
  smtpUrl: text<string | undefined>({
    env: ["HEDDLE_SMTP_URL"],
    default: undefined,
    secret: true,
    description:
      "Mail server for alerts by e-mail: smtp://user:password@host:587, with STARTTLS where the server offers it, or " +
      "smtps://user:password@host:465. Rules for outgoing requests apply (HEDDLE_OUTBOUND_ALLOW).",
  }),
  smtpFrom: text({
    env: ["HEDDLE_SMTP_FROM"],
    default: "Heddle <heddle@localhost>",
    description: "Sender of alerts by e-mail: Heddle <alerts@example.com>.",
  }),
};
