/** Vectors as rows of one flat array. */
export interface Matrix {
  rows: number;
  columns: number;
  data: Float32Array;
}

export const matrix = (rows: number, columns: number): Matrix => ({
  rows,
  columns,
  data: new Float32Array(rows * columns),
});

/** Returns a generator of numbers from 0 to 1 (mulberry32): the same ones for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Returns the inner product of row `i` of `a` and row `j` of `b`. Four sums let the processor work on them at once. */
export function dot(a: Matrix, i: number, b: Matrix, j: number): number {
  const { data: x, columns } = a;
  const { data: y } = b;
  let p = i * columns;
  let q = j * columns;
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  const end = p + columns - 3;
  for (; p < end; p += 4, q += 4) {
    s0 += x[p]! * y[q]!;
    s1 += x[p + 1]! * y[q + 1]!;
    s2 += x[p + 2]! * y[q + 2]!;
    s3 += x[p + 3]! * y[q + 3]!;
  }
  for (const last = end + 3; p < last; p++, q++) s0 += x[p]! * y[q]!;
  return s0 + s1 + s2 + s3;
}

/** Scales row `i` to length 1; a row that is (almost) zero becomes zero. */
export function normalizeRow({ data, columns }: Matrix, i: number): void {
  const start = i * columns;
  const end = start + columns;
  let square = 0;
  for (let p = start; p < end; p++) square += data[p]! * data[p]!;
  const scale = square < 1e-12 ? 0 : 1 / Math.sqrt(square);
  for (let p = start; p < end; p++) data[p]! *= scale;
}

/** Dimensions of a projection, whose error of a cosine is about 0.09. */
const PROJECTED = 128;

/** Projects vectors to fewer dimensions by a sparse random matrix (Li, Hastie and Church 2006), at length 1. */
export function project(source: Matrix, random: () => number): Matrix {
  const { rows, columns, data } = source;
  if (columns <= 2 * PROJECTED) return source;
  const each = Math.ceil(Math.sqrt(columns));
  const places = new Int32Array(PROJECTED * each);
  const signs = new Int8Array(PROJECTED * each);
  for (let i = 0; i < places.length; i++) {
    places[i] = Math.floor(random() * columns);
    signs[i] = random() < 0.5 ? -1 : 1;
  }
  const projected = matrix(rows, PROJECTED);
  for (let i = 0; i < rows; i++) {
    const start = i * columns;
    for (let c = 0, p = 0; c < PROJECTED; c++) {
      let sum = 0;
      for (const end = p + each; p < end; p++) sum += signs[p]! * data[start + places[p]!]!;
      projected.data[i * PROJECTED + c] = sum;
    }
    normalizeRow(projected, i);
  }
  return projected;
}

/** Returns some of the rows. */
export function pick(source: Matrix, rows: ArrayLike<number>): Matrix {
  const { columns } = source;
  const picked = matrix(rows.length, columns);
  for (let i = 0; i < rows.length; i++) {
    picked.data.set(source.data.subarray(rows[i]! * columns, (rows[i]! + 1) * columns), i * columns);
  }
  return picked;
}

/** Returns `count` different numbers below `total`, in order. */
export function choose(total: number, count: number, random: () => number): Int32Array {
  const all = Int32Array.from({ length: total }, (_, i) => i);
  for (let i = 0; i < count; i++) {
    const j = i + Math.floor(random() * (total - i));
    [all[i], all[j]] = [all[j]!, all[i]!];
  }
  return all.subarray(0, count).sort();
}
