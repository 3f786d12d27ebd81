import { z } from "zod";

const email = z.string().trim().toLowerCase().min(3).max(254);
/** Longer than any password that can be set, so that every existing one is accepted. */
const password = z.string().min(1).max(2048);

/** Credentials in the body or as `Authorization: Basic`, which the contract's clients use. */
export const signInBody = z
  .object({
    email: email.optional(),
    password: password.optional(),
    cookie: z
      .boolean()
      .nullish()
      .describe("For browsers: returns the token in a cookie that scripts cannot read, not in the response."),
  })
  .meta({ id: "SignIn" });

export const signedIn = z
  .object({
    access_token: z.string().optional(),
    csrf_token: z
      .string()
      .optional()
      .describe("With `cookie`: value for the header `x-heddle-csrf` of each request that sends the session's cookie."),
    token_type: z.literal("bearer"),
    expires_at: z.iso.datetime(),
  })
  .meta({ id: "SignedIn" });

export const signOutBody = z.object({ everywhere: z.boolean().nullish() });

export const passwordBody = z.object({ current_password: password, new_password: password });

export const methods = z.object({
  password: z.boolean(),
  oidc: z.object({ issuer: z.string(), path: z.string() }).nullable(),
});

/** Path of this server. Rejects forms that a browser could interpret as another host. */
const localPath = z
  .string()
  .max(2000)
  .regex(/^\/(?![/\\])[^\\]*$/, "must be a path of this server")
  .refine((path) => !/\p{Cc}/u.test(path), "must not contain control characters");

export const startQuery = z.object({
  return_to: localPath.optional(),
  error_to: localPath.optional().describe("Path to which the browser is redirected after a failure, with the reason."),
});

const parameter = z.string().max(4096).optional();

/** Parameters of a provider's callback (RFC 6749 §4.1.2, RFC 9207). */
export const callbackQuery = z.looseObject({ code: parameter, state: parameter, iss: parameter, error: parameter });

export type SignInBody = z.output<typeof signInBody>;
