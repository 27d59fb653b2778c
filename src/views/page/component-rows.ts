/** Components as the page lists them: by group, each with its ninety days. */

import {
  type ComponentModel,
  combinedState,
  combinedUptime,
  isWorse,
  type PageIncident,
  type State,
  type Uptime,
  upstreamOf,
  uptimeOf,
  windowOf,
} from '../../model/index.ts';
import { responseSparkOf, type SparkView } from '../component/response-chart.ts';
import { barCells, type DayBarView, type DaysView, dayBarOf, incidentsByComponent } from '../days/day-bar.ts';
import type { LinkView, ViewContext } from '../frame/shell.ts';
import { sectionsOf } from '../model/sections.ts';
import { componentPath } from '../text/addresses.ts';
import type { TimeView } from '../text/format.ts';
import { stateWord } from '../words/state-words.ts';
import { rowId } from './banner.ts';

/** Up to this many components every group is open that does not say otherwise; above it those that are well are folded. */
const OPEN_COMPONENTS_MAX = 60;

/** A group, or components that are in none. */
export interface SectionView {
  /** Null: not a group. */
  readonly group: GroupView | null;
  readonly components: readonly ComponentRowView[];
}

export interface GroupView {
  readonly id: string;
  readonly name: string;
  readonly state: State;
  readonly stateWord: string;
  readonly uptime: string;
  readonly isOpen: boolean;
  /** Whose its components are, where they are somebody else's: a sentence each, with a link and the time it is from. */
  readonly vendors: readonly VendorView[];
}

/** A sentence in pieces. */
export type VendorView = readonly (string | LinkView | TimeView)[];

export interface ComponentRowView {
  /** To link to; null where nothing does. */
  readonly anchor: string | null;
  readonly href: string;
  readonly name: string;
  readonly description: string | null;
  readonly target: string | null;
  readonly state: State;
  readonly stateWord: string;
  /** When it came into that state, unless it is well. */
  readonly since: TimeView | null;
  /** Empty where uptime is not shown. */
  readonly uptime: string;
  /** Null where response times are not known. */
  readonly spark: SparkView | null;
  readonly bar: DayBarView;
}

/** Groups and what is in none, in the order of the page. */
export function sectionViews(context: ViewContext, days: DaysView): SectionView[] {
  const { model, words, format } = context;
  const incidents = incidentsByComponent(model);
  const isLarge = model.components.length > OPEN_COMPONENTS_MAX;
  return sectionsOf(model).map(({ group, members: components }) => {
    const uptimes = components.map((one) => uptimeOf(one.timeline, windowOf('90d', model.asOf)));
    const rows = components.map((one, index) =>
      componentRow(context, days, {
        component: one,
        uptime: uptimes[index],
        incidents: incidents.get(one.definition.id) ?? [],
      }),
    );
    if (group === null) return { group: null, components: rows };
    const state = combinedState(components.map((one) => one.state));
    return {
      group: {
        id: group.id,
        name: group.name,
        state,
        stateWord: stateWord(state, words),
        uptime: model.settings.showUptime
          ? format.percent(combinedUptime(uptimes).ratio, model.settings.uptimeDecimals)
          : '',
        // What is wrong is never folded away.
        isOpen: (group.defaultOpen ?? !isLarge) || isWorse(state, 'operational'),
        vendors: vendorsOf(context, components),
      },
      components: rows,
    };
  });
}

/** The vendors' pages that components are read from, with when each was heard last; one that never was is left out. */
function vendorsOf({ model, words, format }: ViewContext, components: readonly ComponentModel[]): VendorView[] {
  const pages = new Map(
    components.flatMap(({ definition: { vendorPage, monitor } }) =>
      vendorPage === undefined || monitor === null ? [] : [[vendorPage, upstreamOf(monitor)]],
    ),
  );
  return [...pages].flatMap(([href, upstreamId]) => {
    const at = model.sources.find((source) => source.upstreamId === upstreamId)?.monitorsAt ?? null;
    if (at === null) return [];
    const pieces = words.toldByVendor.split(/(\{name\}|\{time\})/);
    return [
      pieces.map((piece) => {
        if (piece === '{time}') return format.time(at);
        return piece === '{name}' ? { href, text: new URL(href).host } : piece;
      }),
    ];
  });
}

interface RowInit {
  readonly component: ComponentModel;
  readonly uptime: Uptime | undefined;
  readonly incidents: readonly PageIncident[];
}

function componentRow(
  context: ViewContext,
  days: DaysView,
  { component, uptime, incidents }: RowInit,
): ComponentRowView {
  const { model, words, format } = context;
  const { definition, state } = component;
  const since = isWorse(state, 'operational') ? component.since : null;
  return {
    anchor: state === 'operational' || state === 'paused' ? null : rowId(component),
    href: context.base + componentPath(definition.id),
    name: component.name,
    description: component.description,
    target: component.target,
    state,
    stateWord: stateWord(state, words),
    since: since === null ? null : format.timeInYear(since),
    uptime: model.settings.showUptime ? format.percent(uptime?.ratio ?? null, model.settings.uptimeDecimals) : '',
    spark: responseSparkOf(context, component),
    bar: dayBarOf(context, days, { cells: barCells(component, days.days, model), incidents }),
  };
}
