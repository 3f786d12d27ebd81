/** Prints measurements with their targets, one line each. */
export class Targets {
  missed = false;

  report(label: string, value: string, pass: boolean, target: string): void {
    if (!pass) this.missed = true;
    console.log(`${label.padEnd(42)} ${value.padStart(10)}   ${target.padEnd(10)} ${pass ? "ok" : "MISSED"}`);
  }
}
