import { checkCancels } from "./cancels.ts";
import { checkDeliveries } from "./deliveries.ts";
import { checkEndings } from "./endings.ts";
import { checkResumes } from "./resumes.ts";
import { checkState } from "./state.ts";
import { checkStreams } from "./streams.ts";
import { checkTruth } from "./truth.ts";
import { checkWaits } from "./waits.ts";
import type { Verdict, World } from "./world.ts";

/** Checks by law number. Law 8 (data directories) has its own tests. */
export const LAWS: Record<string, (world: World) => Verdict> = {
  "1 state": checkState,
  "2 endings": checkEndings,
  "3 streams": checkStreams,
  "4 cancels": checkCancels,
  "5 deliveries": checkDeliveries,
  "6 resumes": checkResumes,
  "6 waits": checkWaits,
  "7 truth": checkTruth,
};

export const checkAll = (world: World): Record<string, Verdict> =>
  Object.fromEntries(Object.entries(LAWS).map(([law, check]) => [law, check(world)]));
