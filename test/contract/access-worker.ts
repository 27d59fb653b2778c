/** A second process over the same database: redeems links and sends mails when told to. */

import { parentPort, workerData } from 'node:worker_threads';
import { createAccess } from '../../src/access/create-access.ts';
import { plainLogin } from '../../src/access/login/login-documents.ts';
import { openSqlite } from '../../src/store/sqlite/sqlite.ts';
import { loginMail } from '../../src/views/login/login.ts';
import { KEY, ORIGIN, PAGES, T0, testOidc } from './access-fixture.ts';

export interface WorkerTask {
  readonly redeem: { readonly times: number; readonly token: string; readonly cookie: string } | null;
}

export interface WorkerResult {
  readonly statuses: readonly number[];
  /** Recipients of the mails that this process sent. */
  readonly recipients: readonly string[];
}

const { file } = workerData as { readonly file: string };
const { database } = openSqlite(file, T0);
const recipients: string[] = [];
const access = createAccess({
  database,
  key: KEY,
  now: () => T0,
  sendMail: async ({ to }) => {
    recipients.push(to);
  },
  oidc: testOidc(database),
  siteUrl: () => 'http://127.0.0.1:4321',
  sessionHours: 12,
  renderLogin: plainLogin,
  writeMail: loginMail,
  onError: (error) => {
    throw error;
  },
  tendIntervalMs: null,
});
await access.setPages(PAGES);
parentPort?.on('message', async ({ redeem }: WorkerTask) => {
  if (redeem === null) await access.tend();
  const { times, token, cookie } = redeem ?? { times: 0, token: '', cookie: '' };
  const answers = await Promise.all(
    Array.from({ length: times }, () =>
      access.handle({
        method: 'POST',
        path: 'login/link/',
        slug: 'team',
        query: new URLSearchParams(),
        form: new URLSearchParams({ token }),
        cookie,
        origin: ORIGIN,
        fetchSite: null,
        ownOrigin: ORIGIN,
        base: '/team/',
        isSecure: false,
        clientAddress: '192.0.2.1',
        now: T0,
      }),
    ),
  );
  const result: WorkerResult = { statuses: answers.map((answer) => answer?.status ?? 0), recipients };
  parentPort?.postMessage(result);
});
parentPort?.postMessage('ready');
