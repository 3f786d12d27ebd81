import { BuildError } from "../builds/build-error.ts";
import type { GitError } from "./run-git.ts";

/** Translations of git's error messages for the deployment's owner. */
const KNOWN: [pattern: RegExp, meaning: (repository: string, gitMessage: string) => string][] = [
  [
    /could not read (Username|Password)|Authentication failed|terminal prompts disabled|HTTP.* 401|error: 401/i,
    (repository) => `${repository} requires a token, or rejected the one that was sent.`,
  ],
  [/error: 403|access denied|forbidden/i, (repository) => `The token has no read access to ${repository}.`],
  [
    /not found|does not exist|does not appear to be a git repository|error: 404/i,
    (repository) => `There is no repository at ${repository}, or the token has no access to it.`,
  ],
  [
    /error: 30\d|unable to update url base from redirection/i,
    (repository) => `${repository} has moved: its host redirects. Use the new address.`,
  ],
  [
    /dumb http transport/i,
    (repository) => `${repository} is served over the dumb HTTP protocol, which cannot fetch a single commit.`,
  ],
  [
    /certificate|SSL|TLS/i,
    (repository, gitMessage) => `The TLS certificate of ${repository} was rejected: ${gitMessage}`,
  ],
];

/** Returns a BuildError when a retry would fail again; otherwise an error that is retried. */
export function explainGit(error: GitError, repository: string): Error {
  const gitMessage = error.message.split("\n").at(-1) ?? "";
  const known = KNOWN.find(([pattern]) => pattern.test(error.message));
  if (known) return new BuildError(known[1](repository, gitMessage));
  return new Error(
    `git could not fetch ${repository}: ${gitMessage.replace(/^fatal: /, "") || `exit code ${error.code}`}`,
  );
}
