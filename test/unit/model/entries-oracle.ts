/**
 * The rules of entries once more, played tick by tick and sharing nothing with `src`: at each tick every component is
 * looked at by itself, and what the rules say of it is done.
 */

export interface OracleWorld {
  /** Ticks from 0 to the present and including it. */
  readonly ticks: number;
  /** By component, in the order of the page, and tick. */
  readonly seen: readonly (readonly ('up' | 'down' | 'silent' | 'paused')[])[];
  readonly inMaintenance: readonly (readonly boolean[])[];
  readonly incidents: readonly OracleIncident[];
  /** In ticks. */
  readonly after: number;
  readonly together: number;
  readonly relapse: number;
}

export interface OracleIncident {
  readonly id: string;
  readonly from: number;
  readonly to: number | null;
  readonly components: readonly number[];
}

export interface OracleFall {
  readonly component: number;
  readonly from: number;
  over: number | null;
  downTicks: number;
  isTold: OracleIncident | null;
  entry: OracleEntry | null;
}

export interface OracleEntry {
  readonly falls: OracleFall[];
  /** `opened 4 0`, `joined 5 1`, `closed 9`, `reopened 12 0`: what, at which tick, which component. */
  readonly events: string[];
  adopter: OracleIncident | null;
}

/** Each entry as text: its events, how it ends, its components, whose story it is; then the falls that incidents tell. */
export function oracleEntries(world: OracleWorld): { readonly entries: string[]; readonly told: string[] } {
  const { entries, falls } = oracleStories(world);
  return {
    entries: entries.map((entry) => {
      const closedAt = closedTick(entry);
      const end = closedAt === null ? 'open' : `closed ${closedAt}`;
      const parts = entry.falls.map(({ component, from, over }) => `${component}:${from}-${over ?? ''}`);
      return `${entry.events.join(', ')}, ${end}; ${parts.join(' ')}; ${entry.adopter?.id ?? 'own'}`;
    }),
    told: falls
      .filter((fall) => fall.isTold !== null)
      .map(({ component, from, over, isTold }) => `${component}:${from}-${over ?? ''} ${isTold?.id}`)
      .sort(),
  };
}

/** When an entry closed for good; null: it is open. */
export function closedTick({ falls }: OracleEntry): number | null {
  return falls.some((fall) => fall.over === null) ? null : Math.max(...falls.map((fall) => fall.over ?? 0));
}

/** The entries in the order in which they opened, and every fall. */
export function oracleStories(world: OracleWorld): { readonly entries: OracleEntry[]; readonly falls: OracleFall[] } {
  const { ticks, seen, inMaintenance, after, together, relapse } = world;
  const incidents = [...world.incidents].sort((a, b) => a.from - b.from || (a.id < b.id ? -1 : 1));
  const entries: OracleEntry[] = [];
  const falls: OracleFall[] = [];
  const current: (OracleFall | null)[] = seen.map(() => null);

  const isOn = (incident: OracleIncident, tick: number): boolean =>
    incident.from <= tick && (incident.to === null || tick < incident.to);
  const isOpen = (entry: OracleEntry): boolean => entry.falls.some((fall) => fall.over === null);
  const closedAt = (entry: OracleEntry): number => Math.max(...entry.falls.map((fall) => fall.over ?? 0));
  const isOpenOrRecent = (entry: OracleEntry, tick: number): boolean =>
    isOpen(entry) || tick - closedAt(entry) <= relapse;
  const hasOpenStory = (entry: OracleEntry, tick: number): boolean =>
    entry.adopter === null || isOn(entry.adopter, tick);
  const isAbout = (incident: OracleIncident, entry: OracleEntry): boolean =>
    entry.falls.some((fall) => incident.components.includes(fall.component));

  const adopt = (entry: OracleEntry, tick: number): void => {
    const first = entry.falls[0]?.from ?? 0;
    entry.adopter ??=
      incidents.find((one) => isOn(one, tick) && one.from >= first - relapse && isAbout(one, entry)) ?? null;
  };
  const add = (entry: OracleEntry, fall: OracleFall, tick: number): void => {
    const wasClosed = !isOpen(entry) && closedAt(entry) < tick;
    const isKnown = entry.falls.some((other) => other.component === fall.component);
    if (wasClosed) entry.events.push(`closed ${closedAt(entry)}`, `reopened ${tick} ${fall.component}`);
    else if (!isKnown) entry.events.push(`joined ${tick} ${fall.component}`);
    entry.falls.push(fall);
    fall.entry = entry;
    adopt(entry, tick);
  };

  for (let tick = 0; tick <= ticks; tick += 1) {
    for (const [component, fall] of current.entries()) {
      const now = seen[component]?.[tick];
      if (fall === null || (now !== 'up' && now !== 'paused')) continue;
      fall.over = tick;
      current[component] = null;
    }
    for (const incident of incidents) {
      if (incident.to !== tick) continue;
      for (const [component, fall] of current.entries()) {
        if (fall === null || (fall.isTold !== incident && fall.entry?.adopter !== incident)) continue;
        fall.over = tick;
        current[component] = null;
      }
    }
    for (const incident of incidents) {
      if (incident.from !== tick) continue;
      for (const entry of entries)
        if (entry.adopter === null && isOpenOrRecent(entry, tick) && isAbout(incident, entry)) entry.adopter = incident;
    }
    for (const component of seen.keys()) {
      const isDown = seen[component]?.[tick] === 'down' && inMaintenance[component]?.[tick] !== true;
      if (!isDown || current[component] !== null) continue;
      const fall: OracleFall = { component, from: tick, over: null, downTicks: 0, isTold: null, entry: null };
      current[component] = fall;
      falls.push(fall);
      fall.isTold =
        incidents.find((one) => isOn(one, tick) && one.from < tick - relapse && one.components.includes(component)) ??
        null;
      if (fall.isTold !== null) continue;
      const again = entries.find(
        (entry) =>
          entry.falls.some((other) => other.component === component) &&
          isOpenOrRecent(entry, tick) &&
          hasOpenStory(entry, tick),
      );
      if (again !== undefined) add(again, fall, tick);
    }
    const due = current
      .filter((fall) => fall !== null)
      .filter((fall) => fall.isTold === null && fall.entry === null && fall.downTicks >= after)
      .sort((a, b) => a.from - b.from || a.component - b.component);
    for (const fall of due) {
      const near = entries.find(
        (entry) =>
          entry.falls.some((other) => Math.abs(other.from - fall.from) <= together) && hasOpenStory(entry, tick),
      );
      if (near !== undefined) {
        add(near, fall, tick);
        continue;
      }
      const entry: OracleEntry = { falls: [fall], events: [`opened ${tick} ${fall.component}`], adopter: null };
      fall.entry = entry;
      entries.push(entry);
      adopt(entry, tick);
    }
    for (const [component, fall] of current.entries()) {
      const isDown = seen[component]?.[tick] === 'down' && inMaintenance[component]?.[tick] !== true;
      if (fall !== null && isDown) fall.downTicks += 1;
    }
  }
  return { entries, falls };
}
