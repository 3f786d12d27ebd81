import type { CrossOriginRules } from "../../base/http/cross-origin.ts";
import type { CorsSection } from "../project/http-schema.ts";

/** `http.cors` of langgraph.json. */
export const corsRules = (cors: CorsSection | undefined): CrossOriginRules | undefined =>
  cors && {
    origins: cors.allow_origins,
    pattern: cors.allow_origin_regex === undefined ? undefined : new RegExp(`^(?:${cors.allow_origin_regex})$`),
    methods: cors.allow_methods?.includes("*") ? undefined : cors.allow_methods,
    headers: cors.allow_headers,
    expose: cors.expose_headers,
    credentials: cors.allow_credentials,
    maxAge: cors.max_age,
  };
