import type { Surface } from "./surface.ts";
import { headers } from "./surfaces/headers.ts";
import { json } from "./surfaces/json.ts";
import { paths } from "./surfaces/paths.ts";

export const SURFACES = [json, paths, headers] as unknown as readonly Surface[];
