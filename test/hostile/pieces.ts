/**
 * Bytes of a request as a short description, so that a reproduction of megabytes fits on a line, and shrinking makes
 * smaller numbers of it.
 */
export type Piece =
  | string
  /** Bytes that are no UTF-8. */
  | { hex: string }
  /** A text many times; `#` in it becomes the number of the repetition. */
  | { repeat: string; times: number };

export type Pieces = readonly Piece[];

export function encodePieces(pieces: Pieces): Buffer {
  return Buffer.concat(pieces.map((piece) => encodePiece(piece)));
}

function encodePiece(piece: Piece): Buffer {
  if (typeof piece === "string") return Buffer.from(piece);
  if ("hex" in piece) return Buffer.from(piece.hex, "hex");
  const { repeat, times } = piece;
  if (times <= 0 || repeat === "") return Buffer.alloc(0);
  if (!repeat.includes("#")) return Buffer.alloc(Buffer.byteLength(repeat) * times, repeat);
  const texts = Array.from({ length: times }, (_, n) => repeat.replaceAll("#", String(n)));
  return Buffer.from(texts.join(""));
}

/** Merges neighbouring texts. */
export function joinPieces(pieces: Pieces): Piece[] {
  const joined: Piece[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (typeof piece === "string" && typeof last === "string") joined[joined.length - 1] = last + piece;
    else if (piece !== "") joined.push(piece);
  }
  return joined;
}
