import type { Context } from "hono";
import { z } from "zod";

import { AppError, forbidden, notFound } from "../../base/errors.ts";
import { uuid } from "../../base/http/fields.ts";
import { route, type Route } from "../../base/http/route.ts";
import { uuid7 } from "../../base/ids.ts";
import { hosted } from "../api-host.ts";
import { unknownDeployment } from "../deployments/not-found.ts";
import { deploymentParams } from "../deployments/schema.ts";
import { findDeployment } from "../deployments/sql.ts";
import { stateError } from "../deployments/validate.ts";
import type { ControlDeps } from "../deps.ts";
import { baseUrl } from "../public-url.ts";
import { archiveTooLarge, receiveUpload, uploadFile } from "./receive-upload.ts";
import { findUpload, insertUpload, markUploaded } from "./sql.ts";

const shared = { tag: "Uploads", errorFamily: "validation" } as const;

const target = z.object({ upload_url: z.string(), object_path: z.string() });

const uploadParams = z.object({ tenant_id: uuid, deployment_id: uuid, file: z.string() });
const uploadQuery = z.object({
  exp: z.string().regex(/^\d{1,12}$/, "must be a whole number"),
  max: z.string().optional(),
  sig: z.string().max(200),
});

/** Endpoints for archives of projects. */
export function uploadRoutes(deps: ControlDeps): Route[] {
  const { sql, settings } = deps;
  return [
    route({
      ...shared,
      ...hosted("/v2/deployments/:deployment_id/upload-url", "/deployments/:deployment_id/upload-url"),
      method: "POST",
      permission: "deployments:update",
      summary: "Create an upload URL for the project's archive, and its source_tarball_path",
      params: deploymentParams,
      out: { 200: target },
      errors: [400],
      async handler({ params, principal, c }) {
        const row = await findDeployment(sql, principal.workspaceId, params.deployment_id);
        if (!row) throw unknownDeployment(params.deployment_id);
        if (row.status === "AWAITING_DELETE") throw stateError(`Deployment ID ${row.id} is being deleted.`);
        const objectPath = `tarballs/${row.tenant_id}/${row.id}/${uuid7()}.tar.gz`;
        const expires = Math.floor(Date.now() / 1000) + settings.uploadSeconds;
        await insertUpload(sql, objectPath, row.id, new Date(expires * 1000));
        const query = `exp=${expires}&max=${settings.uploadMaxBytes}&sig=${deps.uploads.sign(objectPath, expires)}`;
        return c.json({ upload_url: `${baseUrl(deps, c)}/uploads/${objectPath}?${query}`, object_path: objectPath });
      },
    }),
    route({
      ...shared,
      ...hosted("/uploads/tarballs/:tenant_id/:deployment_id/:file"),
      method: "PUT",
      permission: "public",
      publicBecause: "the URL is the credential: it is signed, and valid for one upload and some minutes",
      summary: "Upload a gzipped tar archive",
      params: uploadParams,
      query: uploadQuery,
      reads: ["application/gzip"],
      streamsBody: true,
      out: { 200: null },
      errors: [400, 403, 409, 413],
      async handler({ params, query, c }) {
        const objectPath = `tarballs/${params.tenant_id}/${params.deployment_id}/${params.file}`;
        if (!deps.uploads.isValid(objectPath, Number(query.exp), query.sig)) {
          throw forbidden("The upload URL is invalid or has expired. Request a new one.");
        }
        const known = await findUpload(sql, objectPath);
        if (!known) throw notFound("The upload does not exist.");
        if (known.uploaded_at) throw used();
        const size = await receive(c, uploadFile(deps.directory, objectPath), settings.uploadMaxBytes);
        if (!(await markUploaded(sql, objectPath, size))) throw used();
        return c.body(null, 200);
      },
    }),
  ];
}

const used = () => new AppError(409, "This upload URL has already been used. Request a new one.");

async function receive(c: Context, file: string, maxBytes: number): Promise<number> {
  const declaredLength = Number(c.req.header("content-length") ?? 0);
  if (declaredLength > maxBytes) throw archiveTooLarge(maxBytes);
  return receiveUpload(c.req.raw.body, file, maxBytes);
}
