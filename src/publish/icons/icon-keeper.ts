/**
 * Fetches the icons of pages, so that visitors' browsers don't load them from other hosts. Each is fetched once a day, and the
 * last good one is kept, for the page that wanted it: another may not be allowed to have it fetched.
 */

import pLimit from 'p-limit';
import { isStatusError, messageOf } from '../../errors.ts';
import type { PageKey } from '../../model/slugs.ts';
import { DAY_MS, type EpochMs, HOUR_MS, SECOND_MS } from '../../model/time.ts';
import type { Database, Row, Writer } from '../../store/database.ts';
import { type IconPicture, iconKey } from '../definitions/page-icons.ts';
import { decodeIcon } from './picture.ts';

/** When a good icon is fetched again. */
const FRESH_MS = DAY_MS;
/** When a rejected icon is tried again. */
const RETRY_MS = HOUR_MS;
/** When an icon that no page uses any more is forgotten. */
const FORGET_MS = 30 * DAY_MS;
/** Parallel requests. */
const PARALLEL_MAX = 4;
/** No fetch is started later than this in one run; the next run continues. */
const RUN_MS_MAX = 8 * SECOND_MS;

type Icons = ReadonlyMap<string, IconPicture>;

/** An icon that a page wants. */
export interface WantedIcon {
  readonly page: PageKey;
  readonly address: string;
  /** Whether the operator set the address. Addresses from upstreams may only lead to public networks. */
  readonly isTrusted: boolean;
}

export interface IconKeeper {
  /** Known icons by page and address, whichever process fetched them; the same object as long as nothing changed. */
  readonly known: () => Promise<Icons>;
  /**
   * Fetches icons that are due. Never throws.
   * @returns whether there were any
   */
  readonly refresh: (wanted: readonly WantedIcon[], at: EpochMs) => Promise<boolean>;
}

interface IconKeeperDeps {
  readonly database: Database;
  /** The bytes at an address. @throws a StatusError */
  readonly fetchBytes: (icon: Omit<WantedIcon, 'page'>) => Promise<Uint8Array>;
  readonly onError: (error: unknown) => void;
}

interface KnownIcon {
  readonly askedAt: number;
  readonly png: string | null;
  readonly refusal: string | null;
}

export function createIconKeeper({ database, fetchBytes, onError }: IconKeeperDeps): IconKeeper {
  let version = '';
  let memory: ReadonlyMap<string, KnownIcon> = new Map();
  let icons: Icons = new Map();

  async function known(): Promise<Icons> {
    const [row] = await database.all('SELECT COUNT(*) AS icons, MAX(asked_at) AS latest FROM icon');
    const current = `${row?.['icons']} ${row?.['latest']}`;
    if (current === version) return icons;
    const rows = await database.all('SELECT * FROM icon ORDER BY page, address');
    memory = new Map(rows.map((one) => [iconKey(String(one['page']), String(one['address'])), toKnownIcon(one)]));
    version = current;
    const next = picturesOf(memory);
    if (!isSame(icons, next)) icons = next;
    return icons;
  }

  async function ask({ address, isTrusted }: WantedIcon): Promise<Pick<KnownIcon, 'png' | 'refusal'>> {
    try {
      const decoded = await decodeIcon(await fetchBytes({ address, isTrusted }));
      if (decoded.kind === 'picture') return { png: Buffer.from(decoded.png).toString('base64'), refusal: null };
      return { png: null, refusal: decoded.reason };
    } catch (error) {
      if (!isStatusError(error)) onError(error);
      return { png: null, refusal: messageOf(error) };
    }
  }

  async function askDue(wanted: readonly WantedIcon[], at: EpochMs): Promise<boolean> {
    await known();
    const isDue = ({ page, address }: WantedIcon): boolean => {
      const icon = memory.get(iconKey(page, address));
      return icon === undefined || Math.abs(at - icon.askedAt) >= (icon.refusal === null ? FRESH_MS : RETRY_MS);
    };
    const due = Map.groupBy(wanted.filter(isDue), ({ address, isTrusted }) => `${isTrusted} ${address}`);
    if (due.size === 0) return false;
    const started = performance.now();
    await pLimit(PARALLEL_MAX).map(due.values(), async (same) => {
      const [one] = same;
      if (one === undefined || performance.now() - started >= RUN_MS_MAX) return;
      const found = await ask(one);
      await database.transaction((tx) => remember(tx, same, { ...found, askedAt: at }));
    });
    await database.transaction((tx) => tx.run('DELETE FROM icon WHERE asked_at < ?', [at - FORGET_MS]));
    return true;
  }

  return {
    known,
    refresh: async (wanted, at) => {
      try {
        return await askDue(wanted, at);
      } catch (error) {
        // Without an icon, a page shows the first letter of its name.
        onError(error);
        return true;
      }
    },
  };
}

function toKnownIcon(row: Row): KnownIcon {
  const text = (value: unknown): string | null => (value === null ? null : String(value));
  return { askedAt: Number(row['asked_at']), png: text(row['png']), refusal: text(row['refusal']) };
}

/** If fetching fails, the last good icon stays. */
async function remember(
  tx: Writer,
  wanted: readonly WantedIcon[],
  { askedAt, png, refusal }: KnownIcon,
): Promise<void> {
  await tx.runMany(
    `INSERT INTO icon (page, address, asked_at, png, refusal) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (page, address) DO UPDATE SET asked_at = excluded.asked_at, png = COALESCE(excluded.png, icon.png),
       refusal = excluded.refusal`,
    wanted.map(({ page, address }) => [page, address, askedAt, png, refusal]),
  );
}

function picturesOf(known: ReadonlyMap<string, KnownIcon>): Icons {
  return new Map(
    [...known].map(([key, { png, refusal }]): [string, IconPicture] => [
      key,
      png === null ? { kind: 'refused', reason: refusal ?? 'it has not been fetched yet' } : { kind: 'picture', png },
    ]),
  );
}

function isSame(before: Icons, after: Icons): boolean {
  const textOf = (icons: Icons, address: string): string => {
    const icon = icons.get(address);
    return icon === undefined ? '' : icon.kind === 'picture' ? icon.png : `! ${icon.reason}`;
  };
  return before.size === after.size && [...after.keys()].every((one) => textOf(before, one) === textOf(after, one));
}
