import { integer, type Options, text } from "../../base/config/options.ts";

/**
 * Settings of rate limits. They are text here and validated by `read-configuration.ts`: a mistake must be loud, but
 * must not keep the server from starting.
 */
export const rateLimitOptions = {
  rateLimits: text({
    env: ["HEDDLE_RATE_LIMITS"],
    default: "auto",
    description:
      "Rate limits: on, off, dry-run (counts, logs and tells, but refuses nothing), or auto: off on loopback " +
      "without trusted proxies, on elsewhere.",
  }),
  rateLimitsRegion: text({
    env: ["HEDDLE_RATE_LIMITS_REGION"],
    default: "us",
    description: "Column of the table of rate limits: us or eu.",
  }),
  rateLimitsOverrides: text({
    env: ["HEDDLE_RATE_LIMITS_OVERRIDES"],
    default: "",
    description:
      'Other quotas for rows of the table, as JSON: {"runs-query.key": "100/10", "charts.user": "off"} means 100 ' +
      "requests in 10 seconds, and as if there were no such row.",
  }),
  rateLimitsMaxBuckets: integer({
    env: ["HEDDLE_RATE_LIMITS_MAX_BUCKETS"],
    default: 250_000,
    min: 1000,
    description: "Counters that are kept in memory, at about 150 bytes each; beyond it the oldest are forgotten.",
  }),
  redisUri: {
    ...text({
      env: ["REDIS_URI"],
      default: "",
      description: "Redis in which several servers count rate limits together, redis://… or rediss://….",
    }),
    secret: true,
  },
};

export type RateLimitSettings = Options<typeof rateLimitOptions>;
