/**
 * Polls the branches of deployments that are built on push, at an interval and on webhooks. A new commit becomes a
 * revision in the transaction that records it as seen: one revision per commit, however many processes poll. Of several
 * pushes between two polls, the last is built.
 */
import { isDatabaseUnavailable } from "../../base/db/retry.ts";
import { Poller } from "../../base/polling/poller.ts";
import { readEnvironment } from "../deployments/environment-secret.ts";
import { lockDeployment } from "../deployments/sql.ts";
import { findGitRemote } from "../integrations/git-remote.ts";
import { addRevision } from "../revisions/create-revision.ts";
import type { WorkDeps } from "../revisions/work-deps.ts";
import * as watches from "../watches/sql.ts";

const POLL_MS = 1000;
const AT_ONCE = 4;
/** Lease of a poll; an interrupted one is repeated afterwards. Longer than git's own time limit. */
const LEASE_SECONDS = 90;
/** Delay while a new revision resolves the branch itself; its result is known soon. */
const SOON_SECONDS = 2;
const LONGEST_SECONDS = 3600;
/** Attempts after a webhook when polling is off. */
const TRIES = 6;
const RETRY_SECONDS = 10;

export class PushWatcher {
  readonly #deps: WorkDeps;
  #stopping = new AbortController();
  readonly #polls = new Set<Promise<void>>();
  readonly #poller: Poller;

  constructor(deps: WorkDeps) {
    this.#deps = deps;
    const failing = "could not poll branches; will retry";
    this.#poller = new Poller({ pass: () => this.#pass(), everyMs: POLL_MS, log: deps.log, failing });
  }

  /** Starts with the leader's term. */
  start(): void {
    this.#stopping = new AbortController();
    this.#poller.start();
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error("the control plane is stopping"));
    await this.#poller.stop();
    await Promise.all(this.#polls);
  }

  /** Triggers a pass, if this process leads; the leader looks for watches that are due by itself. */
  wake(): void {
    if (this.#poller.isStarted) this.#poller.wake();
  }

  async #pass(): Promise<void> {
    const limit = AT_ONCE - this.#polls.size;
    if (limit <= 0 || !(await this.#deps.lead.confirm())) return;
    for (const watch of await watches.claimWatches(this.#deps.sql, { limit, leaseSeconds: LEASE_SECONDS })) {
      const poll = this.#poll(watch).finally(() => {
        this.#polls.delete(poll);
        this.wake();
      });
      this.#polls.add(poll);
    }
  }

  /** Polls one branch. Never rejects: an unsaved result is polled again after the lease. */
  async #poll(watch: watches.WatchRow): Promise<void> {
    const { sql, git, settings, log } = this.#deps;
    const every = settings.gitPollSeconds === 0 ? null : settings.gitPollSeconds;
    try {
      const remote = await findGitRemote(this.#deps, watch.tenant_id, watch.source_config);
      const sha = await git.resolve(remote, watch.git_ref, this.#stopping.signal);
      const isSettled = await this.#settle(watch, sha);
      await watches.finishPoll(sql, watch, { seconds: isSettled ? every : SOON_SECONDS, failures: 0, problem: null });
    } catch (error) {
      if (this.#stopping.signal.aborted || isDatabaseUnavailable(error)) return;
      const failures = watch.failures + 1;
      const pause = (every ?? RETRY_SECONDS) * 2 ** Math.min(failures - 1, 12);
      const seconds = every === null && failures >= TRIES ? null : Math.min(LONGEST_SECONDS, pause);
      const problem = error instanceof Error ? error.message : String(error);
      log[failures === 1 ? "warn" : "debug"](
        { err: error, deployment: watch.deployment_id },
        "could not poll a branch",
      );
      await watches.finishPoll(sql, watch, { seconds, failures, problem }).catch(() => {});
    }
  }

  /** @returns false when it cannot be determined yet whether the commit is new */
  async #settle(watch: watches.WatchRow, sha: string): Promise<boolean> {
    if (sha === watch.seen_sha) return true;
    const deps = this.#deps;
    const created = await deps.sql.begin(async (tx) => {
      const row = await lockDeployment(tx, watch.tenant_id, watch.deployment_id);
      // changed during the poll: the next poll uses the new state
      if (row?.status !== "READY" || row.git_ref !== watch.git_ref) return "later";
      const seenSha = await watches.selectSeenCommit(tx, row.id);
      if (seenSha === undefined || seenSha === sha) return "known";
      if (await watches.isBeingResolved(tx, row.id)) return "later";
      const id = await addRevision(deps, tx, row, {
        source: "github",
        config: row.source_config,
        references: row.secret_references,
        revision: {
          repo_ref: row.git_ref,
          langgraph_config_path: row.git_config_path,
          image_uri: null,
          source_tarball_path: null,
        },
        environment: await readEnvironment(deps.secrets, { purpose: "deployment-env", id: row.id }, tx),
        createdBy: `Push to ${row.git_ref}`,
        commitSha: sha,
      });
      const [{ number }] = await tx<[{ number: string }]>`select number from revisions where id = ${id}`;
      await watches.recordSeenCommit(tx, { deploymentId: row.id, ref: row.git_ref, sha, number });
      return "made";
    });
    return created !== "later";
  }
}
