import { spawn } from "node:child_process";

/** Runs a system program to completion. Throws its stderr when it fails. */
export async function runProgram(program: string, args: string[]): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const env = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };
    const child = spawn(program, args, { cwd: "/", env, stdio: ["ignore", "ignore", "pipe"] });
    let output = "";
    child.stderr.on("data", (chunk: Buffer) => (output = (output + chunk.toString()).slice(0, 2000)));
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve() : reject(new Error(`${program}: ${output.trim()}`))));
  });
}
