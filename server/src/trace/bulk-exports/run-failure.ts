import { LostExportError } from "./attempt.ts";

/** Failure of a run, with its id. */
export class RunFailure extends Error {
  override name = "RunFailure";
  readonly runId: string;

  constructor(runId: string, cause: unknown) {
    super("a run of an export failed", { cause });
    this.runId = runId;
  }
}

/** Attributes a failure of the work to a run. A lost export is the failure of no run. */
export async function attributeToRun<T>(runId: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof LostExportError || error instanceof RunFailure ? error : new RunFailure(runId, error);
  }
}
