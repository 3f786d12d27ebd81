import { deltaChannelHistoryTests, validate } from "@langchain/langgraph-checkpoint-validation";
import { afterAll } from "vitest";

import { testDatabase } from "../../../server/test/db.ts";
import { CheckpointDatabase } from "./checkpoint-database.ts";
import { HeddleSaver } from "./heddle-saver.ts";

// The complete suite that LangGraph publishes for checkpoint savers.
const db = await testDatabase();
const database = new CheckpointDatabase(db.uri, { socket: db.options.host });
afterAll(() => database.close());

const initializer = {
  checkpointerName: "HeddleSaver",
  createCheckpointer: () => new HeddleSaver(database),
  destroyCheckpointer: async () => {
    await db.sql`truncate checkpoints, checkpoint_blobs, checkpoint_writes`;
  },
};

validate<HeddleSaver>(initializer);
deltaChannelHistoryTests<HeddleSaver>(initializer);
