/** `POST /-/intake/<id>`: messages of alerting systems, with a secret or a signature. */

import { createHmac } from 'node:crypto';
import type { IntakeConfig } from '../../config/intake.ts';
import { isStatusError } from '../../errors.ts';
import { readAlerts, type Taken, takeAlert } from '../../incidents/intake.ts';
import { Refusal } from '../../incidents/requests.ts';
import { type Author, authorPage } from '../../incidents/writer.ts';
import { type AuditEntry, insertAudit } from '../../store/audit.ts';
import { type Answer, json, type OwnRequest } from '../answer.ts';
import { limited } from '../own-routes.ts';
import { type ApiRoutesOptions, refusalAnswer } from './api-routes.ts';
import { isSame, type OperatorGuard } from './operator.ts';

interface IntakeRoutesOptions
  extends Pick<ApiRoutesOptions, 'database' | 'newSuffix' | 'canRun' | 'now' | 'clientOf' | 'load' | 'publish'> {
  readonly guard: OperatorGuard;
  /** Null: no intake has this id. */
  readonly intakeOf: (id: string) => IntakeConfig | null;
  /** Called with components that the page doesn’t have. */
  readonly onUnknown: (intake: string, component: string) => void;
}

const TEST_RECEIVED = 'test received';
const UNAUTHORIZED = 'No such intake, or its secret or signature is missing or incorrect.';

/** Creates the handler. */
export function createIntakeRoute(options: IntakeRoutesOptions): (request: OwnRequest, id: string) => Promise<Answer> {
  return async (request, id) => {
    try {
      return await take(options, request, id);
    } catch (error) {
      if (error instanceof Refusal) return refusalAnswer(error);
      if (!isStatusError(error) || !error.code.startsWith('STORE_')) throw error;
      return refusalAnswer(new Refusal(503, 'The database is temporarily unavailable. Send the request again.'));
    }
  };
}

async function take(options: IntakeRoutesOptions, request: OwnRequest, id: string): Promise<Answer> {
  const intake = options.intakeOf(id);
  const bytes = await request.body();
  const client = { address: request.clientAddress, now: options.now() };
  const verdict = options.guard.judge('intake', client, () => intake !== null && isGenuine(intake, request, bytes));
  if (verdict.kind === 'limited') return limited(verdict.retryAfterMs, 'secret');
  if (intake === null || verdict.kind === 'wrong') throw new Refusal(401, UNAUTHORIZED);
  if (!options.canRun)
    throw new Refusal(409, 'This process only serves pages. Send the request to the one that runs `pharos start`.');
  const { alerts, hasTest } = readAlerts(parsePayload(bytes), intake);
  const writing = await options.load(intake.page);
  if (writing === null) throw new Refusal(409, `This intake’s page ${intake.page} doesn’t exist.`);
  const { database, newSuffix, now, clientOf } = options;
  const author: Author = {
    actor: `intake:${id}`,
    client: clientOf(request.clientAddress),
    now: now(),
    page: authorPage(writing.page),
    request: null,
  };
  const taken = await database.transaction(async (tx) => {
    const all: Taken[] = [];
    for (const alert of alerts) all.push(await takeAlert(tx, alert, { intake, writing, author, newSuffix }));
    if (hasTest) await insertAudit(tx, testEntry(author));
    return all;
  });
  for (const { unknownComponent } of taken) if (unknownComponent !== null) options.onUnknown(id, unknownComponent);
  if (taken.some(({ did }) => did !== 'known' && did !== 'late')) await options.publish();
  return json(200, {
    ...(hasTest ? { message: TEST_RECEIVED } : {}),
    alerts: taken.map(({ key, did, unknownComponent }) => ({
      key,
      did,
      ...(unknownComponent === null ? {} : { unknown_component: unknownComponent }),
    })),
  });
}

/** Only operators see tests, on their page and in `pharos audit`. */
function testEntry({ actor, client, now, page }: Author): AuditEntry {
  return { at: now, actor, action: 'intake-test', subject: page.slug, client, run: null, outcome: TEST_RECEIVED };
}

/** Compares with every secret, so that the time taken reveals nothing. */
function isGenuine({ header, secrets, signature }: IntakeConfig, { headers }: OwnRequest, bytes: Buffer): boolean {
  const given = headers[(signature?.header ?? header).toLowerCase()];
  if (typeof given !== 'string') return false;
  const claims =
    signature === null ? [given.replace(/^Bearer /i, '')] : given.split(',').map((part) => part.trim().toLowerCase());
  const expected = secrets.map((secret) => {
    if (signature === null) return secret;
    const digits = createHmac('sha256', secret.reveal()).update(bytes).digest('hex');
    return { reveal: () => `${signature.prefix}${digits}`.toLowerCase() };
  });
  return claims.flatMap((claim) => expected.map((one) => isSame(claim, one))).includes(true);
}

function parsePayload(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    throw new Refusal(400, 'The body is not JSON.');
  }
}
