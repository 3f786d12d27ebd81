// Loaded ahead of everything into hosts of tests: Date.now is off by SKEW_MS, and by what code sets the global to.
const now = Date.now;
globalThis.clockSkewMs = Number(process.env.SKEW_MS ?? 0);
Date.now = () => now() + globalThis.clockSkewMs;
