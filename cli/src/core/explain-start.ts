/** Adds the location to a start-up error: which port, which database. */
export function explainStart(
  error: unknown,
  target: { host: string; port: number; portFlag: string; portVariable: string; databaseUri: string | undefined },
): Error {
  const { host, port, portFlag, portVariable, databaseUri } = target;
  const { code = "", message } = error as { code?: string; message: string };
  if (code === "EADDRINUSE") {
    const message = `Port ${port} is in use on ${host}. Choose another port with ${portFlag} or ${portVariable}.`;
    return new Error(message, { cause: error });
  }
  if (code === "EACCES")
    return new Error(`This user may not listen on port ${port} of ${host}. Choose another port with ${portFlag}.`);
  // SQLSTATEs of a server that rejects the login, stops, or has no connection left
  const unreachable = /^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOST|ENET|CONN|08|28|3D|53300|57P0)/.test(code);
  if (databaseUri && unreachable) {
    return new Error(
      `The Postgres at ${withoutPassword(databaseUri)} (--postgres-uri or DATABASE_URI) rejected the ` +
        `connection: ${message}`,
    );
  }
  return error as Error;
}

function withoutPassword(uri: string): string {
  if (!URL.canParse(uri)) return "not a URL";
  const { host, pathname } = new URL(uri);
  return host + pathname;
}
