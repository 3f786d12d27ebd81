import type { Surface } from "./surface.ts";
import { archives } from "./surfaces/archives.ts";
import { encodings } from "./surfaces/encodings.ts";
import { filters } from "./surfaces/filters.ts";
import { git } from "./surfaces/git.ts";
import { headers } from "./surfaces/headers.ts";
import { json } from "./surfaces/json.ts";
import { multipart } from "./surfaces/multipart.ts";
import { grpc, otlp } from "./surfaces/otlp.ts";
import { paths } from "./surfaces/paths.ts";
import { registry } from "./surfaces/registry.ts";
import { reports } from "./surfaces/reports.ts";
import { sso } from "./surfaces/sso.ts";
import { streams } from "./surfaces/streams.ts";
import { uploads } from "./surfaces/uploads.ts";
import { webhooks } from "./surfaces/webhooks.ts";

export const SURFACES = [
  json,
  paths,
  headers,
  encodings,
  multipart,
  otlp,
  grpc,
  filters,
  registry,
  reports,
  webhooks,
  streams,
  sso,
  uploads,
  git,
  archives,
] as unknown as readonly Surface[];
