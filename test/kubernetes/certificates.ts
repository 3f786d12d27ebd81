/** Certificates of the test cluster: its certificate authority, servers, and clients with a user and groups. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Certificate {
  certFile: string;
  keyFile: string;
}

export class Certificates {
  readonly directory: string;
  readonly caFile: string;
  readonly #caKey: string;

  /** Creates the certificate authority, unless the directory contains one. */
  constructor(directory: string) {
    this.directory = directory;
    this.caFile = join(directory, "ca.crt");
    this.#caKey = join(directory, "ca.key");
    if (existsSync(this.caFile)) return;
    const subject = ["-subj", "/CN=heddle-test"];
    openssl("req", "-x509", ...NEW_KEY, "-keyout", this.#caKey, "-out", this.caFile, "-days", "30", ...subject);
  }

  get ca(): string {
    return readFileSync(this.caFile, "utf8");
  }

  /** Returns a client certificate for a user with groups. */
  client(user: string, groups: string[] = []): Certificate {
    const subject = [...groups.map((group) => `/O=${group}`), `/CN=${user}`].join("");
    return this.#sign(user.replaceAll(":", "-"), subject, "extendedKeyUsage=clientAuth");
  }

  /** Returns a server certificate for DNS names and addresses. */
  server(name: string, names: string[]): Certificate {
    const list = names.map((entry) => `${/^[\d.]+$/.test(entry) ? "IP" : "DNS"}:${entry}`).join(",");
    return this.#sign(name, `/CN=${name}`, `extendedKeyUsage=serverAuth\nsubjectAltName=${list}`);
  }

  /** Returns the path of the key that signs service account tokens. */
  signingKey(): string {
    const file = join(this.directory, "service-accounts.key");
    if (!existsSync(file)) openssl("genrsa", "-out", file, "2048");
    return file;
  }

  #sign(name: string, subject: string, extensions: string): Certificate {
    const file = (suffix: string) => join(this.directory, `${name}.${suffix}`);
    const certificate = { certFile: file("crt"), keyFile: file("key") };
    if (existsSync(certificate.certFile)) return certificate;
    writeFileSync(file("ext"), extensions);
    openssl("req", ...NEW_KEY, "-keyout", certificate.keyFile, "-out", file("csr"), "-subj", subject);
    const authority = ["-CA", this.caFile, "-CAkey", this.#caKey, "-CAcreateserial", "-days", "30"];
    const out = ["-out", certificate.certFile, "-extfile", file("ext")];
    openssl("x509", "-req", "-in", file("csr"), ...authority, ...out);
    return certificate;
  }
}

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

function openssl(...args: string[]): void {
  execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });
}
