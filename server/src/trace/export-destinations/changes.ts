import { conflict, notFound, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import { OutboundError } from "../../base/outbound/outbound-error.ts";
import type { TraceDeps } from "../deps.ts";
import { DESTINATION_SECRET, type ExportDestination, findDestination, serializeCredentials } from "./bucket.ts";
import type { DestinationCreate, DestinationCredentials } from "./schema.ts";
import * as rows from "./sql.ts";
import { testFailed, testWrite } from "./test-write.ts";
import { testInWorker } from "./worker-test.ts";

type Deps = Pick<TraceDeps, "sql" | "secrets" | "outbound" | "log" | "settings">;

const FOREIGN_KEY_VIOLATION = "23503";

/** Creates a destination after a test write. Nothing is stored if the test fails. */
export async function createDestination(deps: Deps, tenantId: string, body: DestinationCreate): Promise<string> {
  const credentials = body.credentials ?? null;
  if (!credentials && !deps.settings.exportEnvironmentCredentials) {
    throw unprocessable(
      "Invalid body: credentials: required, because this installation does not provide its own " +
        "(HEDDLE_EXPORT_ENVIRONMENT_CREDENTIALS)",
    );
  }
  const { config, display_name } = body;
  if (config.endpoint_url !== null) rejectEndpoint(deps, config.endpoint_url);
  await test(deps, { tenant_id: tenantId, config, credentials });
  const id = uuid7();
  return deps.sql.begin(async (tx) => {
    if (credentials) await putCredentials(deps, tenantId, id, credentials, tx);
    const credentials_keys = credentialNames(credentials);
    return rows.insertDestination(tx, { id, tenant_id: tenantId, display_name, config, credentials_keys });
  });
}

/**
 * Replaces the credentials after a test write; if it fails the old ones stay. New runs use the new ones as soon as this
 * resolves.
 */
export async function rotateCredentials(
  deps: Deps,
  tenantId: string,
  id: string,
  credentials: DestinationCredentials,
): Promise<string> {
  const found = await rows.selectDestination(deps.sql, tenantId, id);
  if (!found) throw unknown(id);
  await test(deps, { tenant_id: tenantId, config: found.config, credentials });
  const item = await deps.sql.begin(async (tx) => {
    const updated = await rows.updateCredentialsKeys(tx, tenantId, id, credentialNames(credentials));
    // skipped if the destination was deleted in the meantime
    if (updated !== undefined) await putCredentials(deps, tenantId, id, credentials, tx);
    return updated;
  });
  if (item === undefined) throw unknown(id);
  return item;
}

/** Tests a write with the stored credentials. Throws 400 if it fails. */
export async function testDestination(deps: Deps, tenantId: string, id: string): Promise<void> {
  const destination = await findDestination(deps, tenantId, id);
  if (!destination) throw unknown(id);
  await test(deps, destination);
}

export async function deleteDestination(deps: Deps, tenantId: string, id: string): Promise<void> {
  try {
    await deps.sql.begin(async (tx) => {
      if (!(await rows.deleteDestinationRow(tx, tenantId, id))) throw unknown(id);
      await deps.secrets.delete({ purpose: DESTINATION_SECRET, id }, tx);
    });
  } catch (error) {
    if ((error as { code?: string }).code !== FOREIGN_KEY_VIOLATION) throw error;
    throw conflict(`Destination ${id} is in use by exports.`);
  }
}

export const unknown = (id: string) => notFound(`Destination ${id} not found.`);

/** Rejects an endpoint that is invalid without any request. */
function rejectEndpoint({ outbound }: Deps, endpoint: string): void {
  try {
    const { search, hash } = outbound.check(endpoint);
    if (search !== "" || hash !== "") throw unprocessable("The URL must not have a query or a fragment.");
  } catch (error) {
    if (!(error instanceof OutboundError) && (error as { status?: number }).status !== 422) throw error;
    throw unprocessable(
      `Failed to validate S3 destination: Invalid endpoint: config.endpoint_url: ${(error as Error).message}`,
    );
  }
}

/** Tests a write from the API and from a worker, since both must succeed. Throws 400. */
async function test(
  deps: Deps,
  destination: Pick<ExportDestination, "tenant_id" | "config" | "credentials">,
): Promise<void> {
  const localError = await testWrite(destination, deps.outbound, deps.settings.exportTestTimeoutMs);
  if (localError !== null) throw testFailed("the API", localError);
  const workerError = await testInWorker(deps, destination);
  if (workerError !== null) throw testFailed("a worker", workerError);
}

type Tx = Parameters<Parameters<TraceDeps["sql"]["begin"]>[1]>[0];

const putCredentials = (
  { secrets }: Deps,
  workspaceId: string,
  id: string,
  credentials: DestinationCredentials,
  tx: Tx,
): Promise<void> =>
  secrets.put({ purpose: DESTINATION_SECRET, id, workspaceId }, serializeCredentials(credentials), tx);

const credentialNames = (credentials: DestinationCredentials | null): string[] =>
  Object.entries(credentials ?? {}).flatMap(([name, value]) => (value ? [name] : []));
