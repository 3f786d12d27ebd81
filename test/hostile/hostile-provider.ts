/** An OpenID provider whose answers a test writes: each authorization code has its own. */
import { createSign, generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

import type { Pieces } from "./pieces.ts";
import { encodePieces } from "./pieces.ts";

export interface ProviderAnswer {
  status: number;
  headers: Record<string, string>;
  body: Pieces;
}

/** What the provider says for a code; undefined: nothing is known of it. */
export interface ProviderScript {
  token: ProviderAnswer;
  userinfo: ProviderAnswer;
}

export class HostileProvider {
  readonly clientId = "heddle";
  readonly scripts = new Map<string, ProviderScript>();
  readonly #server: Server;
  readonly #keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
  issuer = "";

  constructor() {
    this.#server = createServer(
      (request, response) => void this.#answer(request, response).catch(() => response.destroy()),
    );
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => void this.#server.listen(0, "127.0.0.1", resolve));
    this.issuer = `http://127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** A signed JWT. `algorithm`: the one that the header names. */
  sign(claims: object, algorithm: string): string {
    const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString("base64url");
    const head = `${encode({ alg: algorithm, kid: "one", typ: "JWT" })}.${encode(claims)}`;
    if (algorithm === "none") return `${head}.`;
    return `${head}.${createSign("RSA-SHA256").update(head).sign(this.#keys.privateKey).toString("base64url")}`;
  }

  script(answers: ProviderScript): string {
    const code = randomUUID();
    this.scripts.set(code, answers);
    return code;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { issuer } = this;
    const path = (request.url ?? "").split("?")[0];
    const json = (value: unknown) =>
      void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (path === "/.well-known/openid-configuration") {
      return json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/userinfo`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"],
      });
    }
    if (path === "/jwks") {
      const key = this.#keys.publicKey.export({ format: "jwk" });
      return json({ keys: [{ ...key, use: "sig", alg: "RS256", kid: "one" }] });
    }
    const sent = await text(request);
    const code =
      new URLSearchParams(sent).get("code") ?? (request.headers.authorization ?? "").replace(/^Bearer /i, "");
    const script = this.scripts.get(code);
    const answer = path === "/token" ? script?.token : script?.userinfo;
    if (!answer) return void response.writeHead(400).end();
    response.writeHead(answer.status, answer.headers).end(encodePieces(answer.body));
  }
}
