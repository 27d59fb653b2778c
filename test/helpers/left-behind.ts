/** What keeps a process or a thread busy, for those of tests that go on after the work they were begun for. */

const timers = new Set<NodeJS.Timeout>();
for (const name of ['setTimeout', 'setInterval'] as const) {
  const begin = globalThis[name] as unknown as (...args: unknown[]) => NodeJS.Timeout;
  // What `promisify` gets of it stays as it is.
  globalThis[name] = Object.assign((...args: unknown[]) => {
    const timer = begin(...args);
    timers.add(timer);
    return timer;
  }, begin) as never;
}

/** Those that were left would fire in what comes next. */
export function clearTimers(): void {
  for (const timer of timers) clearTimeout(timer);
  timers.clear();
}

/** What keeps the process or the thread from ending by itself. */
export function alive(): string[] {
  return process.getActiveResourcesInfo().filter((kind) => kind !== 'PipeWrap');
}

/** What is still open although the work has ended: a process of its own would not end. Waits so long for it to close. */
export async function leftBehind(before: readonly string[], withinMs: number): Promise<string[]> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const left = alive();
    for (const kind of before) if (left.includes(kind)) left.splice(left.indexOf(kind), 1);
    if (left.length === 0 || performance.now() > deadline) return left;
    await new Promise<void>((soon) => void setImmediate(soon));
    await new Promise<void>((later) => void setTimeout(later, 5).unref());
  }
}
