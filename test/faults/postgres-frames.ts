/** Reads the application name from a Postgres client's startup packet; undefined for other packets. */
export function applicationName(packet: Buffer): string | undefined {
  const PROTOCOL_3 = 196_608;
  if (packet.length < 8 || packet.readInt32BE(4) < PROTOCOL_3 || packet.readInt32BE(4) > PROTOCOL_3 + 99)
    return undefined;
  const fields = packet.subarray(8, packet.readInt32BE(0)).toString().split("\0");
  const at = fields.findIndex((field, index) => index % 2 === 0 && field === "application_name");
  return at < 0 ? undefined : fields[at + 1];
}

/** Codes of the packets with which a client asks for encryption before its startup packet. */
const SSL_REQUEST = 80_877_103;
const GSS_REQUEST = 80_877_104;

/** Whether a client's first packet asks for encryption. The answer is one byte, not a message. */
export const asksForEncryption = (packet: Buffer): boolean =>
  packet.length === 8 && [SSL_REQUEST, GSS_REQUEST].includes(packet.readInt32BE(4));

const HEADER = 5;
const NOTIFICATION = "A".charCodeAt(0);

/**
 * Follows the messages of a Postgres backend through chunks of any size, and removes the notifications selected by
 * `drops`.
 */
export class BackendMessages {
  readonly #drops: () => boolean;
  #header = Buffer.alloc(0);
  /** Remaining bytes of the current message. */
  #left = 0;
  #dropping = false;

  constructor(drops: () => boolean) {
    this.#drops = drops;
  }

  /** Returns the bytes of the chunk that the client receives. */
  filter(chunk: Buffer): Buffer {
    const passed: Buffer[] = [];
    let at = 0;
    while (at < chunk.length) {
      if (this.#left === 0) {
        const missing = HEADER - this.#header.length;
        this.#header = Buffer.concat([this.#header, chunk.subarray(at, at + missing)]);
        at = Math.min(at + missing, chunk.length);
        if (this.#header.length < HEADER) break;
        this.#left = this.#header.readInt32BE(1) - 4;
        this.#dropping = this.#header[0] === NOTIFICATION && this.#drops();
        if (!this.#dropping) passed.push(this.#header);
        this.#header = Buffer.alloc(0);
      }
      const body = chunk.subarray(at, at + this.#left);
      if (!this.#dropping) passed.push(body);
      at += body.length;
      this.#left -= body.length;
    }
    return passed.length === 1 ? passed[0]! : Buffer.concat(passed);
  }
}
