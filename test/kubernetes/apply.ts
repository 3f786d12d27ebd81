/** Server-side apply of manifests, as in kubectl. */
import { APPLY_PATCH, type KubeClient } from "./kube-client.ts";
import type { Manifest } from "./validate.ts";

/** Resource names with irregular plurals. */
const RESOURCES: Record<string, string> = { Ingress: "ingresses", NetworkPolicy: "networkpolicies" };

function pathOf({ apiVersion, kind, metadata }: Manifest): string {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const resource = RESOURCES[kind] ?? `${kind.toLowerCase()}s`;
  if (kind === "Namespace") return `${root}/${resource}/${metadata.name}`;
  return `${root}/namespaces/${metadata.namespace ?? "default"}/${resource}/${metadata.name}`;
}

/** Applies a manifest, or only validates it. Throws KubeError with the API server's reason. */
export async function applyManifest(client: KubeClient, manifest: Manifest, isDryRun = false): Promise<void> {
  const query = `fieldManager=test&fieldValidation=Strict&force=true${isDryRun ? "&dryRun=All" : ""}`;
  await client.call("PATCH", `${pathOf(manifest)}?${query}`, manifest, APPLY_PATCH);
}
