import type { Level } from "../logs/schema.ts";
import type { LogLine } from "../logs/sql.ts";
import { cleanLine } from "../logs/log-writer.ts";

/** Parses a log line. The agent server's own lines are JSON with a numeric level; output of graphs is plain text. */
export function parseLogLine(line: string, now: Date): LogLine | null {
  if (line.trim() === "") return null;
  if (line.startsWith('{"level":')) {
    try {
      const entry = JSON.parse(line) as { level: number; time?: string; msg?: string; err?: { message?: string } };
      const { level, time, msg, err, ...rest } = entry;
      const more = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : "";
      const failure = err?.message === undefined ? "" : `: ${err.message}`;
      const at = isStorableTime(time) ? new Date(time) : now;
      return { at, level: ofNumber(Number(level)), message: cleanLine(`${msg ?? ""}${failure}${more}`) };
    } catch {
      // not JSON after all
    }
  }
  return { at: now, level: guess(line), message: cleanLine(line) };
}

const YEAR_10000_MS = 253_402_300_800_000;

/** Whether Postgres parses the time as Date prints it, with a year of four digits: graphs can print any. */
function isStorableTime(time: unknown): time is string {
  const ms = typeof time === "string" ? Date.parse(time) : NaN;
  return ms >= 0 && ms < YEAR_10000_MS;
}

function ofNumber(level: number): Level {
  if (level >= 60) return "CRITICAL";
  if (level >= 50) return "ERROR";
  if (level >= 40) return "WARNING";
  return level >= 30 ? "INFO" : "DEBUG";
}

/** Guesses the level of plain text by its beginning. */
function guess(line: string): Level {
  const head = line.slice(0, 80);
  if (/\b(fatal|critical)\b/i.test(head)) return "CRITICAL";
  if (/^\s*(uncaught )?\w*error\b|\berror:|\[error\]|do(?:es)? not load/i.test(head)) return "ERROR";
  if (/\bwarn(ing)?\b/i.test(head)) return "WARNING";
  return /\bdebug\b/i.test(head) ? "DEBUG" : "INFO";
}
