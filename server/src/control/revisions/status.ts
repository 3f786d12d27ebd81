/**
 * State machine of a revision. Clients see it pass through
 *
 *     CREATING -> QUEUED -> AWAITING_BUILD -> BUILDING -> AWAITING_DEPLOY -> DEPLOYING -> DEPLOYED
 *
 * unless the current step fails, a newer revision supersedes it (SKIPPED), a caller interrupts it or its worker is lost
 * (INTERRUPTED), or its instances cannot be observed (UNKNOWN). A revision that was deployed stays DEPLOYED forever;
 * the deployment records which one serves.
 *
 * Claims are not in the table: an attempt resumes after the last step with a durable result, from any unfinished state
 * (queue-sql.ts: claimRevision). A revision released within a step, such as after a transient error, keeps its status
 * until then.
 */
export const STATUSES = [
  "CREATING",
  "QUEUED",
  "AWAITING_BUILD",
  "BUILDING",
  "AWAITING_DEPLOY",
  "DEPLOYING",
  "CREATE_FAILED",
  "BUILD_FAILED",
  "DEPLOY_FAILED",
  "DEPLOYED",
  "SKIPPED",
  "INTERRUPTED",
  "UNKNOWN",
] as const;
export type Status = (typeof STATUSES)[number];

export const EVENTS = [
  /** Its source was resolved. */
  "resolved",
  /** A build is needed. */
  "build_wanted",
  /** A build exists, the revision's own or an older one's. */
  "build_known",
  "build_started",
  "built",
  /** Its build is not on this machine, as after a restore. */
  "build_missing",
  "deploy_started",
  /** Enough instances are healthy, and the revision serves. */
  "healthy",
  /** The current step failed for good. */
  "failed",
  /** A newer revision of the deployment is in progress. */
  "superseded",
  /** A caller interrupted it. */
  "interrupted",
  /** The process that worked on it is gone. */
  "lost",
  /** The state of its instances is unknown. */
  "unseen",
  "seen_deploying",
] as const;
export type Event = (typeof EVENTS)[number];

type Row = Record<Event, Status | null>;

const NOTHING: Row = {
  resolved: null,
  build_wanted: null,
  build_known: null,
  build_started: null,
  built: null,
  build_missing: null,
  deploy_started: null,
  healthy: null,
  failed: null,
  superseded: null,
  interrupted: null,
  lost: null,
  unseen: null,
  seen_deploying: null,
};

const waiting = { ...NOTHING, superseded: "SKIPPED", interrupted: "INTERRUPTED", lost: "INTERRUPTED" } as const;

/** Null: the event does not occur in this state. */
export const TRANSITIONS: Record<Status, Row> = {
  CREATING: { ...waiting, resolved: "QUEUED", failed: "CREATE_FAILED" },
  QUEUED: { ...waiting, build_wanted: "AWAITING_BUILD", build_known: "AWAITING_DEPLOY", failed: "CREATE_FAILED" },
  AWAITING_BUILD: { ...waiting, build_started: "BUILDING", failed: "BUILD_FAILED" },
  BUILDING: { ...waiting, built: "AWAITING_DEPLOY", failed: "BUILD_FAILED" },
  AWAITING_DEPLOY: { ...waiting, build_missing: "QUEUED", deploy_started: "DEPLOYING", failed: "DEPLOY_FAILED" },
  // a revision about to serve is not skipped: the newer one waits
  DEPLOYING: {
    ...NOTHING,
    healthy: "DEPLOYED",
    failed: "DEPLOY_FAILED",
    interrupted: "INTERRUPTED",
    lost: "INTERRUPTED",
    unseen: "UNKNOWN",
  },
  // a claim resumes it, unless a caller interrupted it
  INTERRUPTED: { ...NOTHING, superseded: "SKIPPED", interrupted: "INTERRUPTED" },
  // its listener may be unavailable for days, after which an outdated revision must not be applied
  UNKNOWN: {
    ...NOTHING,
    seen_deploying: "DEPLOYING",
    superseded: "SKIPPED",
    failed: "DEPLOY_FAILED",
    interrupted: "INTERRUPTED",
    lost: "INTERRUPTED",
  },
  CREATE_FAILED: NOTHING,
  BUILD_FAILED: NOTHING,
  DEPLOY_FAILED: NOTHING,
  DEPLOYED: NOTHING,
  SKIPPED: NOTHING,
};

/** States that the event is valid in, for a compare-and-set. */
export const statesBefore = (event: Event): Status[] =>
  STATUSES.filter((status) => TRANSITIONS[status][event] !== null);

/** Whether the state is final. */
export const isOver = (status: Status): boolean => EVENTS.every((event) => TRANSITIONS[status][event] === null);

/** States that are not final. */
export const UNFINISHED: Status[] = STATUSES.filter((status) => !isOver(status));

/** Losses of one step before the revision fails: of the process that worked on it, or by transient errors. */
export const MAX_LOSSES = 3;

/** Steps that a process works on. In other states a revision waits, and is not the cause when its process is lost. */
export const WORKING: ReadonlySet<Status> = new Set<Status>(["CREATING", "QUEUED", "BUILDING", "DEPLOYING"]);

/** Events with a durable result: the step is completed, and its losses are forgotten. */
export const COMPLETING: ReadonlySet<Event> = new Set<Event>(["resolved", "build_known", "built", "build_missing"]);
