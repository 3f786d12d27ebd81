import { integer, text } from "../../base/config/options.ts";

/** Settings of the actions of rules. */
export const ruleActionOptions = {
  ruleConcurrency: integer({
    env: ["HEDDLE_RULE_CONCURRENCY"],
    default: 8,
    min: 0,
    max: 100,
    description:
      "Maximum number of batches of matches that this process acts on concurrently; a batch is of one rule. 0: other " +
      "processes act.",
  }),
  ruleLeaseSeconds: integer({
    env: ["HEDDLE_RULE_LEASE_SECONDS"],
    default: 30,
    min: 1,
    max: 3600,
    description: "Seconds after which another process acts on the matches of one that was killed.",
  }),
  pagerdutyUrl: text({
    env: ["HEDDLE_PAGERDUTY_URL"],
    default: "https://events.pagerduty.com/v2/enqueue",
    description:
      "Events API v2 that receives the alerts of rules. Service region EU: https://events.eu.pagerduty.com/v2/enqueue.",
  }),
};
