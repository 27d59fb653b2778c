import { describe, expect, it } from 'vitest';
import { createAuditTrail } from '../../../src/app/operators/audit-trail.ts';
import { toEpochMs } from '../../../src/model/time.ts';
import type { Audit, AuditEntry, SignInCount } from '../../../src/store/audit.ts';

function trail(options: { key?: string; fails?: boolean } = {}) {
  const entries: AuditEntry[] = [];
  const settled: [string, string][] = [];
  const counts: SignInCount[] = [];
  const errors: unknown[] = [];
  const fail = async (): Promise<void> => {
    if (options.fails === true) throw new Error('no store');
  };
  const audit: Audit = {
    record: async (entry) => {
      await fail();
      entries.push(entry);
    },
    settle: async (run, outcome) => void settled.push([run, outcome]),
    countSignIns: async (some) => void counts.push(...some),
    entries: async () => entries,
    signIns: async () => counts,
    forgetBefore: async () => undefined,
  };
  const made = createAuditTrail({
    audit,
    now: () => toEpochMs(Date.parse('2026-11-21T09:00:00Z')),
    key: { reveal: () => options.key ?? 'a key' },
    isPage: (slug) => slug === 'acme',
    onError: (error) => errors.push(error),
  });
  return { made, entries, settled, counts, errors };
}

describe('the audit trail', () => {
  it('enters what somebody asked for, and nothing of the schedule', async () => {
    const { made, entries } = trail();
    made.queued('run-1', { trigger: 'schedule' });
    made.queued('run-2', { trigger: 'rebuild', page: 'acme', actor: 'operator', client: 'hash' });
    made.queued('run-3', { trigger: 'rebuild', upstreams: ['edge'], actor: 'operator' });
    made.queued('run-4', { trigger: 'hook', upstreams: ['svc'], actor: 'hook:svc' });
    await made.close();
    expect(entries.map(({ action, subject, client, run }) => [action, subject, client, run])).toEqual([
      ['rebuild', 'acme', 'hash', 'run-2'],
      ['pull', 'edge', null, 'run-3'],
      ['hook', 'svc', null, 'run-4'],
    ]);
  });

  it('stands for an address by a hash that nobody can try addresses against without the key', () => {
    const { made } = trail();
    const hash = made.clientOf('198.51.100.7');
    expect(hash).toMatch(/^[\w-]{12}$/);
    expect(made.clientOf('198.51.100.7')).toBe(hash);
    expect(made.clientOf('198.51.100.8')).not.toBe(hash);
    expect(trail({ key: 'another' }).made.clientOf('198.51.100.7')).not.toBe(hash);
    expect(made.clientOf('')).toBeNull();
  });

  it('counts a flood of sign-ins as one row each, and names no page that there is not', async () => {
    const { made, counts } = trail();
    for (let tries = 0; tries < 10_000; tries += 1) made.signIn(`made-up-${tries}`, 'refused');
    made.signIn('acme', 'signed_in');
    await made.close();
    expect(counts).toEqual([
      { day: '2026-11-21', page: '', result: 'refused', count: 10_000 },
      { day: '2026-11-21', page: 'acme', result: 'signed_in', count: 1 },
    ]);
  });

  it('tells the log of what the store does not take, and goes on', async () => {
    const { made, errors, settled } = trail({ fails: true });
    made.note({ actor: 'signal', action: 'reload' });
    made.failed('run-1', 'gone');
    await made.close();
    expect(errors).toHaveLength(1);
    expect(settled).toEqual([['run-1', 'failed: gone']]);
  });
});
