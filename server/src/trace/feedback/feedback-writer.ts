import type { Sql } from "../../base/db/connect.ts";
import { GroupCommit } from "../../base/db/group-commit.ts";
import { conflict } from "../../base/errors.ts";
import type { TraceMasking } from "../masking/trace-masking.ts";
import { type NewFeedback, upsertFeedback, type WrittenFeedback } from "./sql.ts";

/** Largest number of rows in a transaction of several calls. */
const BATCH = 500;

/** Writes feedback. Calls that arrive while a transaction is running share the next one. */
export class FeedbackWriter {
  readonly #commits: GroupCommit<NewFeedback[], void>;
  readonly #masking: TraceMasking;

  constructor(sql: Sql, masking: TraceMasking) {
    this.#masking = masking;
    const run = async (calls: NewFeedback[][]): Promise<void[]> => {
      const rows = calls.flat();
      await sql.begin(async (tx) => {
        const written = new Set((await upsertFeedback(tx, rows)).map(textOf));
        const other = rows.find((row) => !written.has(textOf(row)));
        if (other) throw conflict(`Feedback ${other.feedback_id} already exists for another run.`);
      });
      return calls.map(() => {});
    };
    this.#commits = new GroupCommit(run, { max: BATCH, weigh: (rows) => rows.length });
  }

  /**
   * Masks the rows, and writes all of them or none. The ids are distinct.
   * @throws 409 for an id already used by feedback on another run
   */
  async write(rows: NewFeedback[]): Promise<void> {
    for (const tenantId of new Set(rows.map((row) => row.tenant_id))) {
      const masking = await this.#masking.find(tenantId);
      if (masking) for (const row of rows) if (row.tenant_id === tenantId) masking.feedback(row);
    }
    await this.#commits.call(rows);
  }
}

/** Of a group's rows with one id, only those on the run of the stored feedback may be written. */
const textOf = ({ tenant_id, feedback_id, run_id }: WrittenFeedback): string =>
  `${tenant_id} ${feedback_id} ${run_id}`.toLowerCase();
