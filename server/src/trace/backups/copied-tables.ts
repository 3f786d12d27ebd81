/**
 * Tables of a backup. They are frozen one after another: of a trace that is written meanwhile, and was not acknowledged,
 * there may be a part, as after a crash. Feedback is not among them: after a restore it is copied from Postgres again.
 */
export const COPIED_TABLES = ["runs", "run_keys", "run_attachments", "export_keys", "agent_minutes"] as const;

/** Name of the frozen files of a copy. */
export const frozenName = (copyId: string): string => copyId.replaceAll("-", "");
