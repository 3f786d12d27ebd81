/**
 * State machine of a revision (contract control-plane §4). Clients see it pass through
 *
 *     CREATING -> QUEUED -> AWAITING_BUILD -> BUILDING -> AWAITING_DEPLOY -> DEPLOYING -> DEPLOYED
 *
 * unless the current step fails, a newer revision supersedes it (SKIPPED), a caller interrupts it or its worker is lost
 * (INTERRUPTED), or its instances cannot be observed (UNKNOWN). A revision that was deployed stays DEPLOYED forever;
 * the deployment records which one serves.
 *
 * One change is not in the table: a revision released within a step, such as after a transient error, keeps its status
 * until the next claim sets it back to QUEUED or AWAITING_DEPLOY (queue-sql.ts).
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
  /** Work resumes: at the beginning, or after the existing build. */
  "resumed",
  "resumed_after_build",
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
  resumed: null,
  resumed_after_build: null,
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
  INTERRUPTED: {
    ...NOTHING,
    resumed: "QUEUED",
    resumed_after_build: "AWAITING_DEPLOY",
    superseded: "SKIPPED",
    interrupted: "INTERRUPTED",
  },
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
