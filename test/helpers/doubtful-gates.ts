/**
 * How connectors that define pages are given a page whose access is in doubt: whatever else they show than a clean "public"
 * closes it.
 */

import { writeFileSync } from 'node:fs';
import type { Question } from '../../src/sync/connector.ts';
import { shapeError } from '../../src/sync/http/http-faults.ts';
import type { Respond } from './drive.ts';
import { monitor, page, type Row, service } from './uptime-world.ts';

/** How a connector is given a page, as `base` has it, with some fields changed; `others`: further pages. */
export interface Giver {
  readonly options: Row;
  readonly give: (base: Row, fields: Row, others?: readonly Row[]) => Respond | null;
  /** What leaves the gate in doubt, in words; `others` come to it under the slug of the page. */
  readonly doubts: readonly (readonly [name: string, fields: Row, others?: readonly Row[]])[];
  /** Answers in which something else is wrong, and the page is private or in doubt. */
  readonly broken: readonly (readonly [name: string, give: (base: Row) => Respond | null])[];
}

export const malformed = (question: Question<unknown>) => shapeError(question.url, 'the response is not JSON');
const world = (pages: readonly Row[]) => ({ monitors: [monitor(1)], pages });
const PRIVATE = { accessType: 'PAGE_ACCESS_TYPE_PASSWORD_PROTECTED' };
const TWO = page({ id: '2', slug: 'two' });
const at = (operation: string) => (question: Question<unknown>) => question.url.endsWith(`/${operation}`);
const isMonitors = at('ListMonitors');
const isPages = at('ListStatusPages');
const isOverview = at('GetStatusPageOverview');
/** The same slug in other letters. */
const again = ({ slug }: Row): Row => ({ id: '2', slug: String(slug).toUpperCase() });

const UPTIME_SERVICE: Giver = {
  options: { rpcUrl: 'https://up.test/rpc', apiKey: 'key', preset: 'openstatus' },
  give: (base, fields, others = []) =>
    service(world([page({ ...base, ...fields }), ...others.map((other) => page({ ...again(base), ...other }))])),
  doubts: [
    ['a password', { password: 'x' }],
    ['an object as password', { password: { value: 'x' } }],
    ['protected without a password', { ...PRIVATE, password: null }],
    ['protected by an empty password', { ...PRIVATE, password: '' }],
    ['a word of passwords and no password', { ...PRIVATE }],
    ['no domains', { accessType: 'PAGE_ACCESS_TYPE_AUTHENTICATED' }],
    ['domains without any', { accessType: 'PAGE_ACCESS_TYPE_AUTHENTICATED', authEmailDomains: [] }],
    ['domains that are a word', { authEmailDomains: 'x.test' }],
    ['domains that are objects', { authEmailDomains: [{ domain: 'x.test' }] }],
    ['addresses', { accessType: 'PAGE_ACCESS_TYPE_IP_RESTRICTED' }],
    ['an unknown word', { accessType: 'PAGE_ACCESS_TYPE_FRIENDS' }],
    ['no word', { accessType: undefined }],
    ['null', { accessType: null }],
    ['an object where a word is due', { accessType: { type: 'public' } }],
    ['a list where a word is due', { accessType: ['PAGE_ACCESS_TYPE_PUBLIC'] }],
    ['a number where a word is due', { accessType: 7 }],
    ['published in a word', { published: 'soon' }],
    ['an unreadable slug', { slug: 'a/b' }],
    ['a duplicate slug', {}, [{}]],
  ],
  broken: [
    [
      'monitors that are malformed',
      (base) =>
        service(world([page({ ...base, ...PRIVATE })]), (question) =>
          isMonitors(question) ? malformed(question) : undefined,
        ),
    ],
    [
      'a monitor without a name',
      (base) => service({ monitors: [monitor(1, { name: null })], pages: [page({ ...base, ...PRIVATE })] }),
    ],
    [
      'a malformed overview',
      (base) => service(world([page(base)]), (question) => (isOverview(question) ? malformed(question) : undefined)),
    ],
    [
      'an unreadable item in the list of pages',
      () => service(world([]), (question) => (isPages(question) ? { statusPages: [{ id: { x: 1 } }] } : undefined)),
    ],
    [
      'a list of pages that breaks off',
      () =>
        service(world([TWO]), (question) => {
          if (!isPages(question)) return undefined;
          const { offset } = (question.body ?? {}) as { offset?: number };
          return (offset ?? 0) > 0 ? malformed(question) : { statusPages: [TWO], totalSize: 300 };
        }),
    ],
  ],
};

/** @param path of the state */
function terraform(path: string): Giver {
  const resourceOf = (attributes: Row | null, type = 'svc_status_page', name = 'page') => ({
    mode: 'managed',
    ...{ type, name, provider: 'provider["registry.terraform.io/svc/svc"]', instances: [{ attributes }] },
  });
  const write = (resources: readonly object[]): null => {
    writeFileSync(path, JSON.stringify({ version: 4, terraform_version: '1.9.0', resources }));
    return null;
  };
  const pageOf = (fields: Row): Row => ({ id: '1', access_type: 'public', ...fields });
  const monitorOf = (fields: Row) =>
    resourceOf({ id: '9', name: 'm', url: 'https://x.test', ...fields }, 'svc_http_monitor', 'monitor');
  return {
    options: { path },
    give: (base, fields, others = []) =>
      write([
        monitorOf({}),
        ...[
          pageOf({ ...base, ...fields }),
          ...others.map((other) => pageOf({ ...base, ...again(base), ...other })),
        ].map((attributes, index) => resourceOf(attributes, 'svc_status_page', `page_${index}`)),
      ]),
    doubts: [
      ['a password', { password: 'x' }],
      ['an object as password', { password: { value: 'x' } }],
      ['a null password', { access_type: 'password', password: null }],
      ['an empty password', { access_type: 'password', password: '' }],
      ['a word of passwords and no password', { access_type: 'password' }],
      ['no ranges', { access_type: 'ip' }],
      ['empty ranges', { access_type: 'ip', allowed_ip_ranges: '' }],
      ['ranges', { access_type: 'ip', allowed_ip_ranges: '10.0.0.0/8' }],
      ['no domains', { access_type: 'email-domain', auth_email_domains: [] }],
      ['domains that are a word', { auth_email_domains: 'x.test' }],
      ['an unknown word', { access_type: 'friends' }],
      ['a list where a word is due', { access_type: ['public'] }],
      ['an object where a word is due', { access_type: { type: 'public' } }],
      ['a number where a word is due', { access_type: 7 }],
      ['not published', { published: false }],
      ['published in a word', { published: 'soon' }],
      ['an unreadable slug', { slug: 'a/b' }],
      ['a duplicate slug', {}, [{}]],
      ['a duplicate id', {}, [{ id: '1', slug: 'twin' }]],
    ],
    broken: [
      ['a page without attributes', () => write([monitorOf({}), resourceOf(null)])],
      [
        'a monitor that breaks the rules',
        (base) =>
          write([resourceOf(pageOf({ ...base, access_type: 'password', password: null })), monitorOf({ retry: 11 })]),
      ],
    ],
  };
}

/** By kind of connector; a Terraform state is written to `path`. */
export function doubtGivers(path: string): Readonly<Record<string, Giver>> {
  return { 'uptime-service': UPTIME_SERVICE, terraform: terraform(path) };
}
