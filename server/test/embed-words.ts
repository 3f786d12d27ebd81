const DIMENSIONS = 256;

/** Embeds a text: each word adds to one dimension. */
export function embedWords(text: string): number[] {
  const vector = Array.from({ length: DIMENSIONS }, () => 0);
  for (const word of text.toLowerCase().match(/[a-z]+/g) ?? ["nothing"]) {
    let hash = 0x81_1c_9d_c5;
    for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 0x01_00_01_93) >>> 0;
    vector[hash % DIMENSIONS]! += 1;
  }
  return vector;
}
