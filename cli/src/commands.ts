import * as audit from "./commands/audit.ts";
import * as backup from "./commands/backup.ts";
import * as blobs from "./commands/blobs.ts";
import * as checkpoints from "./commands/checkpoints.ts";
import * as datasets from "./commands/datasets.ts";
import * as deploy from "./commands/deploy.ts";
import * as deployments from "./commands/deployments.ts";
import * as dev from "./commands/dev.ts";
import * as doctor from "./commands/doctor.ts";
import * as encryption from "./commands/encryption.ts";
import * as erase from "./commands/erase.ts";
import * as evaluators from "./commands/evaluators.ts";
import * as experiment from "./commands/experiment.ts";
import * as exporting from "./commands/export.ts";
import * as feedback from "./commands/feedback.ts";
import * as holds from "./commands/holds.ts";
import * as importing from "./commands/import.ts";
import * as interrupt from "./commands/interrupt.ts";
import * as keys from "./commands/keys.ts";
import * as listener from "./commands/listener.ts";
import * as logs from "./commands/logs.ts";
import * as newProject from "./commands/new.ts";
import * as prices from "./commands/prices.ts";
import * as projects from "./commands/projects.ts";
import * as prompts from "./commands/prompts.ts";
import * as restore from "./commands/restore.ts";
import * as revisions from "./commands/revisions.ts";
import * as rollback from "./commands/rollback.ts";
import * as runs from "./commands/runs.ts";
import * as secrets from "./commands/secrets.ts";
import * as serve from "./commands/serve.ts";
import * as skills from "./commands/skills.ts";
import * as threads from "./commands/threads.ts";
import * as traces from "./commands/traces.ts";
import * as workspaces from "./commands/workspaces.ts";
import * as up from "./commands/up.ts";
import * as users from "./commands/users.ts";
import type { ActionSpec } from "./core/actions.ts";

export interface Command {
  summary: string;
  /** The declaration of a command with actions. */
  command?: { actions: Record<string, ActionSpec> };
  help(): string;
  run(args: string[]): Promise<void>;
}

/** All commands, in the order of the overview. */
export const COMMANDS: Record<string, Command> = {
  new: newProject,
  dev,
  up,
  serve,
  doctor,
  deploy,
  deployments,
  projects,
  traces,
  runs,
  threads,
  datasets,
  feedback,
  skills,
  prices,
  prompts,
  evaluators,
  experiment,
  import: importing,
  revisions,
  logs,
  rollback,
  interrupt,
  listener,
  keys,
  workspaces,
  secrets,
  blobs,
  backup,
  restore,
  checkpoints,
  audit,
  users,
  export: exporting,
  encryption,
  erase,
  holds,
};
