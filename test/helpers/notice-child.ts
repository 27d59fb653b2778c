/** A process that sends what is owed until nothing is, to be killed meanwhile. Arguments: database, smtp address. */

import { systemRandom } from '../../src/access/digest.ts';
import { createSmtpPool } from '../../src/mail/mailer.ts';
import { toEpochMs } from '../../src/model/time.ts';
import { sendToSubscriber } from '../../src/notify/mails.ts';
import { createNoticeSender, deliveryCounts } from '../../src/notify/queue.ts';
import { createAddressSeal } from '../../src/notify/subscribers.ts';
import { openSqlite } from '../../src/store/sqlite/sqlite.ts';
import { subscribablePage } from './subscribable-page.ts';

const [file = '', smtp = ''] = process.argv.slice(2);
const now = () => toEpochMs(Date.now());
const { database } = openSqlite(file, now());
const key = { reveal: () => 'a key of addresses of subscribers, of tests' };
const seal = createAddressSeal(key, systemRandom);
const pool = createSmtpPool({ url: smtp, from: 'status@pharos.example', size: 2 });
const sender = createNoticeSender({
  database,
  now,
  random: () => 0,
  email: () => (job) =>
    sendToSubscriber(
      {
        reader: database,
        key,
        seal,
        now,
        send: pool.send,
        pageOf: subscribablePage,
      },
      job,
    ),
  channels: () => [],
  prepare: async () => undefined,
  onResult: () => undefined,
  onError: (error) => console.error(error),
  quietMs: 0,
  claimMs: 1_000,
});
for (;;) {
  await sender.run();
  const [counts] = await deliveryCounts(database);
  const [waiting] = await database.all(`SELECT COUNT(*) AS n FROM notice WHERE state = 'new'`);
  if ((counts?.queued ?? 0) === 0 && Number(waiting?.['n']) === 0) break;
  await new Promise((done) => setTimeout(done, 50));
}
await sender.close();
pool.close();
await database.close();
