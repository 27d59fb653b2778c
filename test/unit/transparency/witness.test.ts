import { describe, expect, it } from 'vitest';
import { rootAfter } from '../../../src/transparency/entries.ts';
import { formatCheckpoint, signNote } from '../../../src/transparency/note.ts';
import { formatWitness, judgeWitness, parseWitness, watchedRecord } from '../../../src/transparency/witness.ts';
import { TEST_KEY, testKey } from '../../helpers/page-log.ts';

const LINES = ['{"n":0}', '{"n":1}', '{"n":2}'];
const ORIGIN = 'status.example.com/acme';
const SEEN = { url: 'https://status.example.com/acme/', at: '2026-11-23T10:00:00.000Z', compared: [] };
const rootAt = async (size: number): Promise<string | null> => (size > LINES.length ? null : rootAfter(LINES, size));

const checkpointOf = (lines: readonly string[], size: number): string =>
  signNote(
    formatCheckpoint({
      ...{ origin: ORIGIN, size, root: rootAfter(lines, size) },
      ...{ release: '0'.repeat(64), at: SEEN.at },
    }),
    [TEST_KEY],
  );

/** What a witness publishes after it saw a checkpoint. */
function noteOf(name: string, checkpoint: string, faults: string[] = []): string {
  const key = testKey(name);
  const head = { origin: ORIGIN, size: 2, root: '', key: '', at: SEEN.at };
  return formatWitness([watchedRecord(SEEN, { faults, checkpoint, head }, key)], key);
}

const judge = (note: string | null) => judgeWitness({ url: 'https://w.example/', note }, ORIGIN, rootAt);

describe('witnesses of a page', () => {
  it('agree when they signed what the log of the page leads from', async () => {
    expect(await judge(noteOf('w.example', checkpointOf(LINES, 2)))).toMatchObject({ word: 'agrees', faults: [] });
  });

  it('differ when they signed another log, or say that something is wrong', async () => {
    const other = ['{"n":0}', '{"n":9}', '{"n":2}'];
    expect(await judge(noteOf('w.example', checkpointOf(other, 2)))).toMatchObject({ word: 'differs' });
    const said = ['The past was rewritten.'];
    expect(await judge(noteOf('w.example', checkpointOf(LINES, 2), said))).toMatchObject({
      word: 'differs',
      faults: said,
    });
  });

  it('count for nothing when they are away, damaged, forged, or watch something else', async () => {
    const note = noteOf('w.example', checkpointOf(LINES, 2));
    expect(await judge(null)).toMatchObject({ word: 'away' });
    expect(await judge('x')).toMatchObject({ word: 'away' });
    expect(parseWitness(note.replace('acme', 'evil'))).toBeNull();
    expect(await judge(note.replace('"faults":[]', '"faults":["x"]'))).toMatchObject({ word: 'away' });
    expect((await judgeWitness({ url: 'https://w.example/', note }, 'status.example.com/other', rootAt)).word).toBe(
      'away',
    );
    // A log that is longer than the page's own: the page was set back.
    expect((await judge(noteOf('w.example', checkpointOf([...LINES, '{"n":3}'], 4)))).word).toBe('differs');
  });
});
