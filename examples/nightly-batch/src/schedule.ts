/**
 * Creates the cron of the nightly digest, or changes the one that exists:
 *
 *     tsx src/schedule.ts API WEBHOOK [--now]
 *
 * `--now` also starts a run with the same webhook, so that you need not wait for the night.
 */
import { Client } from "@langchain/langgraph-sdk";

const [apiUrl, webhook] = process.argv.slice(2).filter((word) => !word.startsWith("--"));
if (!apiUrl || !webhook) throw new Error("Usage: tsx src/schedule.ts API WEBHOOK [--now]");
const client = new Client({ apiUrl, apiKey: process.env["HEDDLE_API_KEY"] ?? null });

const JOB = { name: "nightly digest" };
const run = { input: {}, webhook };
// the result is part of the webhook only if the run's thread is kept
const wanted = { ...run, schedule: "0 2 * * *", timezone: "Europe/Berlin", onRunCompleted: "keep" as const };

const [existing] = await client.crons.search({ metadata: JOB, limit: 1 });
const { cron_id } = existing
  ? await client.crons.update(existing.cron_id, wanted)
  : await client.crons.create("digest", { ...wanted, metadata: JOB });
const { next_run_date } = (await client.crons.search({ metadata: JOB })).find((cron) => cron.cron_id === cron_id)!;
console.log(`${existing ? "updated" : "created"} the cron ${cron_id}, next run ${next_run_date}`);

if (process.argv.includes("--now")) {
  const { thread_id } = await client.threads.create({ metadata: JOB });
  const { run_id } = await client.runs.create(thread_id, "digest", run);
  console.log(`started the run ${run_id}`);
}
