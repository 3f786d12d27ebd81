/** Parts of `registry.example:5000/team/agent:1@sha256:…`, as Docker parses it. */
export interface ImageReference {
  /** docker.io when none is named. */
  registry: string;
  /** Name for the engine, including the registry when one is named. */
  name: string;
  tag: string | null;
  digest: string | null;
}

const PART = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
const REFERENCE = new RegExp(
  `^((?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\\[[0-9a-fA-F:]+\\])(?::\\d{1,5})?/)?(${PART}(?:/${PART})*)(?::([\\w][\\w.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$`,
);

/** Null when invalid. */
export function parseReference(text: string): ImageReference | null {
  if (text.length > 500) return null;
  const found = REFERENCE.exec(text);
  // engines read this prefix as the id of any local image, including those of other tenants
  if (!found || (found[1] === undefined && found[2] === "sha256")) return null;
  const first = found[1]?.slice(0, -1);
  // a first part without dot, port or "localhost" is a name at docker.io
  const isHost = first !== undefined && /[.:]|^localhost$/.test(first);
  if (first !== undefined && !isHost && !new RegExp(`^${PART}$`).test(first)) return null;
  return {
    registry: isHost ? first : "docker.io",
    name: `${found[1] ?? ""}${found[2]}`,
    tag: found[3] ?? null,
    digest: found[4] ?? null,
  };
}
