import { integer, type Options } from "../config/options.ts";

/** Settings of the embedded Postgres, in every role that opens a database. */
export const embeddedPostgresOptions = {
  postgresLingerSecs: integer({
    env: ["HEDDLE_POSTGRES_LINGER_SECS"],
    default: 300,
    min: 1,
    max: 86_400,
    description:
      "How long the embedded Postgres keeps running after its last server was killed, in seconds, so that the " +
      "next start can adopt it. It never stops while a server, even a frozen one, or another client uses it.",
  }),
};

export type EmbeddedPostgresSettings = Options<typeof embeddedPostgresOptions>;
