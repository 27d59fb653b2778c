/** A page whose every text from upstream is an attack or an accident. */

import type { PageModel } from '../../../src/model/index.ts';
import { ago, announcement, componentModel, incident, maintenance, pageModel } from '../../helpers/page-model.ts';

/** What is never to be published: upstream names, what is checked, addresses inside. */
export const SECRETS = ['zz-upstream-id', '10.9.8.7:5432/secret-target'] as const;
const [UPSTREAM, TARGET] = SECRETS;

export const HOSTILE_TEXTS: readonly string[] = [
  ']]>]]><script>alert(1)</script>]]>',
  '"><svg onload=alert(1)>\'--!>',
  'nul \0 bell \u0007 escape \u001b[31m del \u007f nel \u0085 end',
  'half \ud800 pair \udfff non-characters \ufffe \uffff \u{1fffe} \u{10ffff}',
  'x\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nSUMMARY:injected\r\nUID:injected',
  '=HYPERLINK("https://evil.example","pay")',
  '\t+1+1;cmd|\'/C calc\'!A0,"quoted"\n@SUM(A1)',
  '&lt;b&gt; &amp; &#12; &#x1b; &#xfffe; &#0; &nbsp; &evil;',
  '[click](javascript:alert(1)) ![x](https://evil.example/x.png) <iframe src=//evil>',
  '\u202egnp.exe \u2066 \u200f مرحبا \u{1f525}\u{1f469}\u200d\u{1f52c} 日本語',
  '{{7*7}} ${7*7} <%= 7*7 %> {% raw %} %0d%0aSet-Cookie:x',
  'a very long line '.repeat(80),
  '\\,;:"\\n\\N literal, backslashes; and — dashes'.repeat(3),
  '# heading\n> quote\n- [x](y)\n\n\n<!-- -->',
];

/** One page for each text, the same text in every field that an upstream fills. */
export function hostilePage(text: string): PageModel {
  const made = componentModel({ id: 'api', name: text, description: text, groupId: 'core', target: TARGET });
  const component = { ...made, definition: { ...made.definition, monitor: `${UPSTREAM}/12` as never } };
  const said = (id: string) => ({ id, at: ago(3_600_000), body: text });
  const told = (id: string) => ({ ...said(id), status: 'investigating' as const });
  return pageModel({
    components: [component],
    definition: {
      id: `${UPSTREAM}/7`,
      title: text,
      description: text,
      groups: [{ id: 'core', name: text, order: 0 }],
    },
    incidents: [
      incident({
        id: `${UPSTREAM}/41`,
        slug: 'open',
        title: text,
        updates: [told('1'), told('2')],
        componentIds: ['api'],
      }),
      incident({ id: `${UPSTREAM}/40`, slug: 'over', title: text, updates: [told('1')], endedAt: ago(1_800_000) }),
    ],
    maintenances: [
      maintenance({
        id: `${UPSTREAM}/9`,
        title: text,
        updates: [{ ...said('1'), status: 'scheduled' }],
        texts: [text],
      }),
    ],
    announcements: [announcement({ title: text, body: text })],
    sources: [
      {
        upstreamId: UPSTREAM,
        monitorsAt: ago(20_000),
        incidentsAt: ago(20_000),
        intervalMs: 60_000,
        isMonitorsStale: false,
        isIncidentsStale: false,
      },
    ],
  });
}
