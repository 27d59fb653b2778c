/** All there is to look at of badges, as one page: on the left as on a light ground, on the right as on a dark one. */

import { cardSvg } from '../../src/badges/card.ts';
import { type BadgeFields, renderBadge } from '../../src/badges/index.ts';
import { BADGE_KINDS, badgeFields, isCard } from '../../src/badges/kinds.ts';
import { BADGE_STYLES, type BadgeScheme } from '../../src/badges/names.ts';
import { STATES } from '../../src/model/state.ts';
import { badgeSubject } from './badge-subject.ts';

/** A cube, to stand for anybody's logo. */
const CUBE = {
  path: 'M12 2 2 7v10l10 5 10-5V7zm0 2.3L19.6 8 12 11.8 4.4 8zM4 9.6l7 3.5v6.4l-7-3.5zm9 9.9v-6.4l7-3.5v6.4z',
  size: 24,
};

const SHAPES = BADGE_STYLES.filter((style) => style !== 'bars' && style !== 'spark' && !style.endsWith('-text'));

/** Every style in every state, every kind, drawings in other shapes, letters and logos; outlines only. A row each. */
function outlinedRows(): BadgeFields[][] {
  const subject = badgeSubject();
  const figures = BADGE_KINDS.filter((kind) => !isCard(kind) && kind !== 'history-90d' && kind !== 'response-spark');
  const names = ['Größe Łódź', 'Ελληνικά', 'Кириллица', 'Tiếng Việt', 'Brașov'];
  return [
    ...STATES.map((state) => SHAPES.map((style) => badgeFields(badgeSubject({ state }), 'status', { style }))),
    figures.map((kind) => badgeFields(subject, kind)),
    [badgeFields(subject, 'history-90d'), badgeFields(subject, 'response-spark')],
    [
      badgeFields(badgeSubject({ isStale: true }), 'history-90d'),
      badgeFields(badgeSubject({ isStale: true }), 'status'),
    ],
    [badgeFields(subject, 'history-90d', { style: 'pill' })],
    [badgeFields(subject, 'history-90d', { style: 'tall' })],
    SHAPES.map((style) => badgeFields(subject, 'response-spark', { style, logo: CUBE })),
    SHAPES.map((style) => ({ label: 'Tokyo WAVE', message: 'Typography 1,234', color: 'info', style, logo: CUBE })),
    names.map((label) => ({ label, message: '“100 €” ✓', color: 'blue' })),
  ];
}

/** The same without their order. */
export function outlinedBadges(): BadgeFields[] {
  return outlinedRows().flat();
}

/** A document with all of them and the cards; nothing in it is fetched. */
export async function badgeSheet(): Promise<string> {
  const columns = await Promise.all((['light', 'dark'] as const).map(column));
  return `<!doctype html><meta charset="utf-8"><style>
    body { margin: 0; display: flex }
    section { padding: 20px; width: 880px; line-height: 34px }
    section.dark { background: #0d1117 }
    img { margin-right: 8px; vertical-align: middle }
  </style>${columns.join('')}`;
}

async function column(scheme: BadgeScheme): Promise<string> {
  const cards = await Promise.all([
    cardSvg(badgeSubject({ name: 'Payments gateway' }), { scheme }),
    cardSvg(badgeSubject({ name: 'Zahlungsverkehr der Kantone', state: 'major_outage' }), { scheme }),
    cardSvg(badgeSubject({ name: 'العربية', isStale: true }), { scheme }),
    cardSvg(badgeSubject({ name: 'Ł Ж Ω', state: 'degraded', responseTime: null }), { scheme }),
  ]);
  const others = ['العربية', 'עברית'].map((label) => ({ label, message: 'operational', color: 'operational' }));
  const rows = [...outlinedRows(), others].map((row) => row.map((fields) => renderBadge({ ...fields, scheme })));
  const lines = [...rows, cards].map((row) => `<div>${row.map(picture).join('')}</div>`);
  return `<section class="${scheme}">${lines.join('')}</section>`;
}

function picture(svg: string): string {
  return `<img alt="" src="data:image/svg+xml,${encodeURIComponent(svg)}">`;
}
