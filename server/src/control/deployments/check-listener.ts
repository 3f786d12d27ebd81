import type { Transaction } from "../../base/db/connect.ts";
import type { SourceConfig } from "./schema.ts";
import { stateError } from "./validate.ts";
import { lockListener } from "../listeners/sql.ts";

/**
 * Rejects with 400 an unknown listener, and a namespace that the listener does not serve. A deployment without a
 * listener is always valid: this control plane runs it. The listener cannot be deleted until the transaction ends.
 */
export async function checkListener(
  tx: Transaction,
  tenantId: string,
  { listener_id: id, listener_config: config }: SourceConfig,
): Promise<void> {
  const reject = (text: string) => stateError(`Source configuration error: ${text}`);
  if (id == null) {
    if (config?.k8s_namespace != null) throw reject("'source_config.listener_config' needs a 'listener_id'");
    return;
  }
  const listener = await lockListener(tx, tenantId, id, "key share");
  if (!listener) throw reject(`there is no listener with 'listener_id' ${id}`);
  const served = listener.compute_config.k8s_namespaces;
  const namespace = config?.k8s_namespace;
  if (namespace != null && served && !served.includes(namespace)) {
    throw reject(`the listener ${id} does not serve the namespace '${namespace}'; it serves: ${served.join(", ")}`);
  }
}
