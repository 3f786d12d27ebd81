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
      "Rate limits: on, off, dry-run (counts, logs and reports, but rejects nothing), or auto: off on loopback " +
      "without trusted proxies, otherwise on.",
  }),
  rateLimitsRegion: text({
    env: ["HEDDLE_RATE_LIMITS_REGION"],
    default: "us",
    description: "Column of the rate limit table: us or eu.",
  }),
  rateLimitsOverrides: text({
    env: ["HEDDLE_RATE_LIMITS_OVERRIDES"],
    default: "",
    description:
      'Overrides of rate limits, as JSON: {"runs-query.key": "100/10", "charts.user": "off"} allows 100 ' +
      "requests in 10 seconds for the first and disables the second.",
  }),
  rateLimitsMaxBuckets: integer({
    env: ["HEDDLE_RATE_LIMITS_MAX_BUCKETS"],
    default: 250_000,
    min: 1000,
    description: "Maximum number of counters in memory, at about 150 bytes each; beyond it the oldest are evicted.",
  }),
  redisUri: {
    ...text({
      env: ["REDIS_URI"],
      default: "",
      description: "Redis in which servers share the counters of rate limits, redis://… or rediss://….",
    }),
    secret: true,
  },
};

export type RateLimitSettings = Options<typeof rateLimitOptions>;
