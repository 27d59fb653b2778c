import { expect, it } from 'vitest';
import { badgeAddressOf } from '../../../src/server/address.ts';
import { createBadgeService } from '../../../src/server/visitors/badge-service.ts';
import type { OpenRelease } from '../../../src/server/visitors/release-reader.ts';
import type { BadgeSubject } from '../../../src/views/badges/badge-subjects.ts';
import { badgeSubject, NOW } from '../../helpers/badge-subject.ts';

function releaseWith(page: () => BadgeSubject): OpenRelease {
  const subjects = {
    get page() {
      return page();
    },
    components: [],
    groups: [],
  };
  return {
    data: () => ({ onDemand: { subjects, options: {}, named: [], staleAfter: NOW } }),
  } as unknown as OpenRelease;
}

const request = (over: { readonly now?: typeof NOW; readonly ifNoneMatch?: string } = {}) => {
  const address = badgeAddressOf('badges/status.svg');
  if (address === null) throw new Error('no badge');
  return { address, query: new URLSearchParams(), now: NOW, isPublic: true, ifNoneMatch: undefined, ...over };
};

it('a badge is drawn once for two who ask at once, and given without waiting from then on', async () => {
  let drawings = 0;
  const release = releaseWith(() => {
    drawings += 1;
    return badgeSubject();
  });
  const service = createBadgeService();
  const [one, other] = await Promise.all([service.draw(release, request()), service.draw(release, request())]);
  expect(one.status).toBe(200);
  expect(other).toBe(one);
  expect(service.draw(release, request())).toBe(one);
  const etag = String(one.headers['etag']);
  expect(service.draw(release, request({ ifNoneMatch: etag }))).toMatchObject({ status: 304, body: null });
  expect(drawings).toBe(1);
});

it('a badge is drawn anew for another release, and once its data is stale', async () => {
  const service = createBadgeService();
  const release = releaseWith(() => badgeSubject());
  const fresh = await service.draw(release, request());
  const stale = await service.draw(release, request({ now: (NOW + 1) as typeof NOW }));
  expect(stale.headers['etag']).not.toBe(fresh.headers['etag']);
  const down = releaseWith(() => badgeSubject({ state: 'major_outage' }));
  expect((await service.draw(down, request())).headers['etag']).not.toBe(fresh.headers['etag']);
  expect(service.draw(release, request())).toBe(fresh);
});

it('a drawing that failed is tried again', async () => {
  let isBroken = true;
  const release = releaseWith(() => {
    if (isBroken) throw new Error('no font');
    return badgeSubject();
  });
  const service = createBadgeService();
  await expect(service.draw(release, request())).rejects.toThrow('no font');
  isBroken = false;
  expect((await service.draw(release, request())).status).toBe(200);
});

it('an address that is asked for again gets what its release, time, gate and query say', async () => {
  const service = createBadgeService();
  const release = releaseWith(() => badgeSubject());
  const down = releaseWith(() => badgeSubject({ state: 'major_outage' }));
  const plain = request();
  const fresh = await service.draw(release, plain);
  expect(service.draw(release, plain)).toBe(fresh);
  const other = await service.draw(down, plain);
  expect(other.headers['etag']).not.toBe(fresh.headers['etag']);
  expect(service.draw(down, plain)).toBe(other);
  expect(service.draw(release, plain)).toBe(fresh);
  expect(await service.draw(release, { ...plain, isPublic: false })).toMatchObject({
    headers: { 'cache-control': expect.stringContaining('private'), vary: 'Cookie' },
  });
  const asked = await service.draw(release, { ...plain, query: new URLSearchParams('label=Ours') });
  expect(String(asked.body)).toContain('Ours');
  const stale = await service.draw(release, { ...plain, now: (NOW + 1) as typeof NOW });
  expect(stale.headers['etag']).not.toBe(fresh.headers['etag']);
  expect(service.draw(release, plain)).toBe(fresh);
});
