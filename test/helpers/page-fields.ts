/** Changes of single fields of a page as a publisher has it. */

import { BADGE_KINDS } from '../../src/badges/kinds.ts';
import { BADGE_STYLES } from '../../src/badges/names.ts';
import {
  ANNOUNCEMENT_LEVELS,
  INCIDENT_IMPACTS,
  INCIDENT_STATUSES,
  MAINTENANCE_STATUSES,
  type PageModel,
  PROVENANCES,
  STATES,
  THEMES,
} from '../../src/model/index.ts';
import { once } from '../../src/once.ts';
import type { PageBadges } from '../../src/publish/files/files.ts';
import { type FieldChange, type FieldChangesInit, fieldChanges } from './field-changes.ts';
import { calm, outage, rightToLeft, stale } from './page-scenes.ts';

/** A page as a publisher has it. */
export interface Scene {
  readonly model: PageModel;
  readonly badge: PageBadges;
}

const BADGE: PageBadges = { options: { locale: 'en', label: '{name}' }, named: [{ name: 'mine', kind: 'uptime-7d' }] };

export function sceneOf(model: PageModel): Scene {
  return { model, badge: BADGE };
}

/** Fields whose values are words, or that have bounds. */
const WORDS: FieldChangesInit['words'] = {
  state: STATES,
  provenance: PROVENANCES,
  impact: INCIDENT_IMPACTS,
  'model.incidents.*.status': INCIDENT_STATUSES,
  'model.maintenances.*.status': MAINTENANCE_STATUSES,
  level: ANNOUNCEMENT_LEVELS,
  theme: THEMES,
  access: ['public', 'password', 'email-domain'],
  type: ['monitor', 'static'],
  timezone: ['UTC', 'Asia/Tokyo'],
  'model.settings.locale': ['de', 'ar', 'ja'],
  'badge.options.locale': ['de'],
  'model.settings.url': ['https://other.example/'],
  uptimeDecimals: [0, 3],
  uptimeRatio: [0.5, 1],
  accentColor: ['#abcdef', null],
  'model.log.corrected.*.day': ['2026-02-03'],
  'model.log.root': ['BBBB'],
  'model.log.witnesses.*.url': ['https://x.example/'],
  'model.log.witnesses.*.word': ['agrees', 'away'],
  kind: BADGE_KINDS,
  style: BADGE_STYLES,
};

/** Each field of the page in turn with other values; other pages show which there are. */
export function sceneChanges(
  scene: Scene,
  init: Pick<FieldChangesInit, 'places' | 'values' | 'seed'>,
): Generator<FieldChange<Scene>> {
  return fieldChanges(scene, others(), { words: WORDS, unique: ['id', 'slug'], ...init });
}

const others = once(() => [calm(), outage(), stale(), rightToLeft()].map(sceneOf));
