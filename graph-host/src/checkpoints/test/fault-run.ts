// Begins or resumes one run of the two-step graph, for the test that kills processes: `uri thread_id`.
import { writeSync } from "node:fs";

import { CheckpointDatabase } from "../checkpoint-database.ts";
import { HeddleSaver } from "../heddle-saver.ts";
import { twoStepGraph } from "./graphs.ts";

const [uri, threadId] = process.argv.slice(2);
const database = new CheckpointDatabase(uri!);
const config = { configurable: { thread_id: threadId }, durability: "sync" as const };
const saver = new HeddleSaver(database, { passiveStart: true });
const graph = twoStepGraph(saver, (node) => {
  // synchronously, as the process may not live to flush a pipe
  writeSync(1, `${node}\n`);
  return node;
});
const begun = await saver.getTuple(config);
await graph.invoke(begun ? null : { last: "go" }, config);
await saver.flush();
await database.close();
