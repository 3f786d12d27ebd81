/** Names and labels of a deployment's objects. All names begin with the reserved prefix `heddle-`. */

const OWN_PREFIX = "heddle-";

export const LABELS = {
  /** Identifies the control plane or listener that owns the object. */
  place: "heddle.place",
  deployment: "heddle.deployment",
  revision: "heddle.revision",
  part: "heddle.part",
} as const;

export const ANNOTATIONS = {
  generation: "heddle.generation",
  attempt: "heddle.attempt",
  environment: "heddle.environment",
  name: "heddle.name",
} as const;

export const FIELD_MANAGER = "heddle";
export const AGENT_CONTAINER = "agent";
/** Port on which images of agent servers listen. */
export const AGENT_PORT = 8000;

const NAME_LETTERS = 28;
/** Returns the last digits of an id, which are the random ones. */
const digits = (id: string, count: number): string => id.replaceAll("-", "").slice(-count);

/** Returns the name of a deployment's objects: a DNS label (RFC 1035) of at most 48 characters. */
export function objectName({ name, deploymentId }: { name: string; deploymentId: string }): string {
  const readable = name
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .slice(0, NAME_LETTERS)
    .replace(/^-+|-+$/g, "");
  return `${OWN_PREFIX}${readable === "" ? "" : `${readable}-`}${digits(deploymentId, 12)}`;
}

/** Returns the name of a revision's Secret. Each revision has its own: earlier pods may restart during a rollout. */
export const secretName = (object: string, revisionId: string, part: "env" | "pull"): string =>
  `${object}-${digits(revisionId, 8)}-${part}`;

/**
 * Whether a field of a pod's specification names an object, wherever in it: kinds of references are added to Kubernetes
 * faster than a list of them would be.
 */
export function namesObject(field: unknown, name: string): boolean {
  if (typeof field === "string") return field === name;
  return typeof field === "object" && field !== null && Object.values(field).some((inner) => namesObject(inner, name));
}

/** Whether a name is reserved for Heddle's objects, which a deployment must not refer to. */
export const isOwnName = (name: string): boolean => name.startsWith(OWN_PREFIX);
