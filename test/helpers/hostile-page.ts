/** Status pages and operators' pages on which everything that people and upstreams write is as long, as wide and as hostile as it gets. */

import { DAY_MS, HOUR_MS, MINUTE_MS, type PageModel } from '../../src/model/index.ts';
import type { OpsFacts } from '../../src/views/operators/ops-facts.ts';
import { opsFacts } from './ops-facts.ts';
import { ago, announcement, incident, maintenance, type PageInit } from './page-model.ts';
import { outage } from './page-scenes.ts';

const WORD =
  'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft_internal-gateway.eu-central-1.example';

/** Names that want to break out of their line, their element and their direction. */
const HOSTILE_NAMES = [
  WORD,
  '<img src=x onerror=alert(1)> "><script>alert(1)</script>',
  `${'W'.repeat(150)}`,
  '\u202eright to left\u202c and \u2066isolated, ملاحظة شديدة 漢字かな交じり文 \u{1f469}\u200d\u{1f469}\u200d\u{1f467}',
  `Z${'\u0310\u0320\u0331'.repeat(20)}algo ${'\u00a0'.repeat(60)}end`,
  '漢字'.repeat(60),
  `https://status.example/?q=${'a%20'.repeat(60)}`,
  'A name for customers of the old and of the new platform in every region, and for their many friends',
] as const;

const WIDE_CELLS = Array.from({ length: 14 }, (_, at) => `column_number_${at}_of_many`).join(' | ');

/** Everything that Markdown can make, each part wider than any phone. */
const HOSTILE_MARKDOWN = `# A heading ${WORD}

## Second ${HOSTILE_NAMES[1]}

#### Fourth, after a skip

A paragraph with \`${WORD}${WORD}\`, **${WORD}**, [${WORD}](https://docs.example/${WORD}) and https://bare.example/${'x'.repeat(200)}.

\`\`\`
${'curl --header "authorization: bearer" https://api.example/v3/very/long/path '.repeat(4)}
\`\`\`

| ${WIDE_CELLS} |
|${'---|'.repeat(14)}
| ${WIDE_CELLS} |

> A quotation
> > inside another ${WORD}

1. One
   - ${WORD}
     - deeper
       - and deeper

---

![A picture that is not there](https://status.acme.example/acme/${WORD}.png)
${HOSTILE_NAMES[3]}
`;

const nameAt = (index: number): string => HOSTILE_NAMES[index % HOSTILE_NAMES.length] ?? WORD;

/** The page of an outage with every name, title and text replaced. */
export function hostilePage(init: PageInit = {}): PageModel {
  const model = outage(init);
  const [first = ''] = HOSTILE_NAMES;
  return outage({
    ...init,
    components: model.components.map((one, index) => ({
      ...one,
      name: nameAt(index),
      description: index % 3 === 2 ? null : nameAt(index + 1),
      target: nameAt(index + 2),
    })),
    incidents: [
      incident({
        slug: 'hostile',
        title: `${first} ${first}`,
        componentIds: model.components.map(({ definition }) => definition.id),
        impact: 'critical',
        updateBodies: [HOSTILE_MARKDOWN, HOSTILE_MARKDOWN],
      }),
      incident({ slug: 'folded', title: nameAt(2), startedAt: ago(3 * HOUR_MS), updateBodies: [HOSTILE_MARKDOWN] }),
      incident({
        slug: 'past',
        title: nameAt(5),
        startedAt: ago(3 * DAY_MS),
        endedAt: ago(2 * DAY_MS),
        updateBodies: [HOSTILE_MARKDOWN, 'Over.'],
      }),
    ],
    maintenances: [
      maintenance({ slug: 'hostile', title: nameAt(3), componentIds: ['api', 'exports'], texts: [HOSTILE_MARKDOWN] }),
      maintenance({
        slug: 'running',
        title: nameAt(2),
        status: 'in_progress',
        startsAt: ago(80 * MINUTE_MS),
        endsAt: ago(-40 * MINUTE_MS),
        announcedAt: ago(DAY_MS),
        texts: [],
        updates: [{ id: 'began', at: ago(80 * MINUTE_MS), status: 'in_progress', body: HOSTILE_MARKDOWN }],
      }),
    ],
    announcements: [announcement({ title: nameAt(5), body: HOSTILE_MARKDOWN })],
    settings: { showTargets: true, ...init.settings },
    definition: {
      title: nameAt(0),
      description: `${nameAt(1)} ${nameAt(2)}`,
      groups: model.groups.map((group, index) => ({ ...group, name: nameAt(index + 2) })),
      ...init.definition,
    },
  });
}

/** What operators see when every id, title and message is of the same kind. */
export function hostileOpsFacts(): OpsFacts {
  const facts = opsFacts();
  const at = facts.now;
  return {
    ...facts,
    siteName: WORD,
    upstreams: facts.upstreams.map((one, index) => ({
      ...one,
      id: nameAt(index),
      lastError: { at, code: 'UPSTREAM_FAILED', message: `${WORD}${WORD}` },
      notes: [`${WORD}: left out ${nameAt(1)}`, nameAt(2)],
    })),
    runs: facts.runs.map((one) => ({ ...one, id: WORD, outcome: nameAt(2) })),
    pages: facts.pages.map((one, index) => ({ ...one, title: nameAt(index), url: `https://${WORD}/` })),
    problems: [{ slug: WORD, message: nameAt(2) }],
    exports: [{ id: WORD, queued: 2, sent: 40, rejected: 1, parked: 3, lastError: nameAt(2) }],
    targets: [{ place: `/srv/${WORD}`, message: nameAt(2) }],
    audit: facts.audit.map((one) => ({ ...one, subject: WORD, outcome: nameAt(2) })),
    signIns: facts.signIns.map((one) => ({ ...one, page: WORD })),
  };
}
