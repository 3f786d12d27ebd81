/** Fenced writes of a deployment's objects: an object of another owner, or of a higher generation, is left alone. */
import type { DesiredDeployment, DesiredRevision } from "./desired-deployment.ts";
import { type Kind, KINDS, type KubernetesObject, objectPath } from "./api/kinds.ts";
import { isConflict, isMissing, type KubernetesApi } from "./api/kubernetes-api.ts";
import type { ClusterSettings } from "./cluster-settings.ts";
import { AUTOSCALER, type Manifest, manifests } from "./manifests.ts";
import { ANNOTATIONS, FIELD_MANAGER, LABELS, objectName } from "./names.ts";
import { isForeign, type LiveDeployment } from "./observe.ts";

/** An object with the same name belongs to another owner. The message is for the deployment's owner. */
export class ForeignObjectError extends Error {
  override name = "ForeignObjectError";
}

export type Applied = { kind: Kind; name: string; resourceVersion: string; generation: number | undefined }[];

const APPLY = "application/apply-patch+yaml";

/**
 * Applies the objects of a deployment, each after the objects that it refers to.
 * @returns undefined when the cluster has a higher generation, or another process changed the Deployment meanwhile
 */
export async function applyDeployment(
  api: KubernetesApi,
  settings: ClusterSettings,
  desired: DesiredDeployment & { revision: DesiredRevision },
): Promise<Applied | undefined> {
  const { place } = settings;
  const namespace = desired.namespace ?? settings.namespace;
  const name = objectName(desired);
  const live = await findObject<LiveDeployment>(api, "Deployment", namespace, name);
  if (live) {
    rejectForeign(live, place, desired);
    if (generationOf(live) > desired.generation) return undefined;
  }
  const applied: Applied = [];
  const objects = manifests(desired, settings, live?.spec.replicas ?? null);
  try {
    for (const manifest of objects) {
      const isDeployment = manifest.kind === "Deployment";
      // if another process has changed the Deployment, this is a conflict, and it is read and checked again
      if (isDeployment && live) manifest.metadata.resourceVersion = live.metadata.resourceVersion;
      if (!isDeployment) await checkOwner(api, place, desired, manifest);
      const object = await apply(api, manifest);
      const { name: written, resourceVersion, generation } = object.metadata;
      applied.push({ kind: manifest.kind as Kind, name: written, resourceVersion, generation });
    }
  } catch (error) {
    if (isConflict(error)) return undefined;
    throw error;
  }
  if (!objects.some(({ kind }) => kind === AUTOSCALER))
    await deleteObject(api, place, desired, AUTOSCALER, namespace, name);
  return applied;
}

const generationOf = (live: KubernetesObject): number =>
  Number(live.metadata.annotations?.[ANNOTATIONS.generation] ?? 0);

async function findObject<T extends KubernetesObject>(
  api: KubernetesApi,
  kind: Kind,
  namespace: string,
  name: string,
): Promise<T | undefined> {
  try {
    return await api.call<T>("GET", objectPath(kind, namespace, name));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function checkOwner(
  api: KubernetesApi,
  place: string,
  desired: DesiredDeployment,
  { kind, metadata }: Manifest,
): Promise<void> {
  const live = await findObject(api, kind as Kind, metadata.namespace, metadata.name);
  if (live) rejectForeign({ ...live, kind }, place, desired);
}

function rejectForeign(live: KubernetesObject, place: string, { deploymentId }: DesiredDeployment): void {
  if (!isForeign(live, place, deploymentId)) return;
  throw new ForeignObjectError(
    `The ${live.kind ?? "object"} ${live.metadata.namespace}/${live.metadata.name} exists and does not belong to this ` +
      "deployment. Rename or delete it.",
  );
}

function apply(api: KubernetesApi, manifest: Manifest): Promise<KubernetesObject> {
  const { name, namespace } = manifest.metadata;
  return api.call<KubernetesObject>("PATCH", objectPath(manifest.kind as Kind, namespace, name), {
    query: { fieldManager: FIELD_MANAGER, force: "true" },
    body: manifest,
    contentType: APPLY,
  });
}

async function deleteObject(
  api: KubernetesApi,
  place: string,
  desired: DesiredDeployment,
  kind: Kind,
  namespace: string,
  name: string,
): Promise<void> {
  const live = await findObject(api, kind, namespace, name);
  if (!live || isForeign(live, place, desired.deploymentId)) return;
  await removeObject(api, kind, live);
}

/** Deletes an object that was read before, unless it has been deleted or replaced since. */
async function removeObject(api: KubernetesApi, kind: Kind, { metadata }: KubernetesObject): Promise<void> {
  const body = { propagationPolicy: "Background", preconditions: { uid: metadata.uid } };
  try {
    await api.call("DELETE", objectPath(kind, metadata.namespace, metadata.name), { body });
  } catch (error) {
    if (!isMissing(error) && !isConflict(error)) throw error;
  }
}

const OWNED_KINDS = (Object.keys(KINDS) as Kind[]).filter((kind) => kind !== "Pod");

/**
 * Deletes all objects of a deployment; its pods end after their grace period.
 * @returns false when the cluster has a higher generation
 */
export async function deleteDeployment(
  api: KubernetesApi,
  settings: ClusterSettings,
  desired: DesiredDeployment,
): Promise<boolean> {
  const namespace = desired.namespace ?? settings.namespace;
  const live = await findObject<LiveDeployment>(api, "Deployment", namespace, objectName(desired));
  const isOurs = live && !isForeign(live, settings.place, desired.deploymentId);
  if (isOurs && generationOf(live) > desired.generation) return false;
  for (const kind of OWNED_KINDS) {
    for (const object of await listOwn(api, kind, namespace, settings.place, desired.deploymentId)) {
      await removeObject(api, kind, object);
    }
  }
  return true;
}

/** Deletes the Secrets of all revisions except the desired one. Call it once their pods are gone. */
export async function deleteOldSecrets(
  api: KubernetesApi,
  settings: ClusterSettings,
  desired: DesiredDeployment & { revision: DesiredRevision },
): Promise<void> {
  const namespace = desired.namespace ?? settings.namespace;
  for (const secret of await listOwn(api, "Secret", namespace, settings.place, desired.deploymentId)) {
    if (secret.metadata.labels?.[LABELS.revision] !== desired.revision.id) await removeObject(api, "Secret", secret);
  }
}

async function listOwn(
  api: KubernetesApi,
  kind: Kind,
  namespace: string,
  place: string,
  deploymentId: string,
): Promise<KubernetesObject[]> {
  const labelSelector = `${LABELS.place}=${place},${LABELS.deployment}=${deploymentId}`;
  const query = { labelSelector };
  return (await api.call<{ items: KubernetesObject[] }>("GET", objectPath(kind, namespace), { query })).items;
}
