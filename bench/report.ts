export interface Measurement {
  label: string;
  unit: string;
  better: "lower" | "higher";
  /** Published target; measurements without one are informative. */
  target?: number;
}

/** Every printed measurement, by the id that measurements use. */
export const MEASUREMENTS: Record<string, Measurement> = {
  "wait.reused.median": { label: "wait, one thread: median", unit: "ms", better: "lower", target: 8 },
  "wait.reused.p95": { label: "wait, one thread: p95", unit: "ms", better: "lower" },
  "wait.fresh.median": { label: "wait, new thread per run: median", unit: "ms", better: "lower", target: 8 },
  "wait.fresh.p95": { label: "wait, new thread per run: p95", unit: "ms", better: "lower" },
  throughput: { label: "16 clients, a thread each", unit: "runs/s", better: "higher", target: 200 },
  "throughput.fresh": { label: "16 clients, new thread per run", unit: "runs/s", better: "higher" },
  "frame.first.median": { label: "stream: first frame, median", unit: "ms", better: "lower", target: 10 },
  "frame.values.median": { label: "stream: first values, median", unit: "ms", better: "lower" },
  "streams.frames": { label: "50 streams: delivered", unit: "frames/s", better: "higher", target: 6000 },
  "streams.first.p99": { label: "50 streams: first frame p99", unit: "ms", better: "lower", target: 300 },
  backlog: { label: "background runs drained", unit: "runs/s", better: "higher", target: 200 },
  "memory.server": { label: "server process, resident", unit: "MB", better: "lower", target: 250 },
  "memory.growth": { label: "growth over the second half", unit: "MB", better: "lower", target: 15 },
  "memory.tree": { label: "with its child processes", unit: "MB", better: "lower" },
  start: { label: "second start to first /ok", unit: "ms", better: "lower", target: 2000 },
};

export type Results = Record<string, number>;

export interface Sides {
  heddle: Results;
  devServer: Results;
  bare: Results;
}

export interface Row extends Measurement {
  id: string;
  heddle?: number;
  devServer?: number;
  bare?: number;
  /** Heddle's advantage over the development server, as a factor. */
  ratio?: number;
  pass?: boolean;
}

export function rows({ heddle, devServer, bare }: Sides): Row[] {
  return Object.entries(MEASUREMENTS)
    .filter(([id]) => id in heddle || id in devServer || id in bare)
    .map(([id, measurement]) => {
      const row: Row = { id, ...measurement, heddle: heddle[id], devServer: devServer[id], bare: bare[id] };
      const { heddle: heddleValue, devServer: devServerValue, better, target } = row;
      if (heddleValue !== undefined && devServerValue !== undefined && id !== "memory.growth") {
        row.ratio = better === "lower" ? devServerValue / heddleValue : heddleValue / devServerValue;
      }
      if (heddleValue !== undefined && target !== undefined)
        row.pass = better === "lower" ? heddleValue <= target : heddleValue >= target;
      return row;
    });
}

const number = (value: number | undefined): string =>
  value === undefined ? "" : value >= 100 ? value.toFixed(0) : value.toFixed(1);

export function printTable(table: Row[]): void {
  const head = ["measurement", "unit", "Heddle", "target", "", "dev server", "ratio", "bare loop"];
  const body = table.map((row) => [
    row.label,
    row.unit,
    number(row.heddle),
    row.target === undefined ? "" : `${row.better === "lower" ? "<=" : ">="} ${row.target}`,
    row.pass === undefined ? "" : row.pass ? "PASS" : "FAIL",
    number(row.devServer),
    row.ratio === undefined ? "" : `${number(row.ratio)}x`,
    number(row.bare),
  ]);
  const widths = head.map((title, column) => Math.max(title.length, ...body.map((cells) => cells[column]!.length)));
  for (const cells of [head, ...body]) {
    const line = cells.map((cell, column) =>
      column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
    );
    console.log(line.join("  ").trimEnd());
  }
}
