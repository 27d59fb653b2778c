/**
 * Parts of pages that an operator may replace with components of their own, and what each of them gets. The templates of ours
 * take the same properties, so that one can stand in place of the other. docs/components.md is about them.
 */

import type { State } from '../model/state.ts';
import type { Pieces } from '../model/translated.ts';
import type { FreshnessView, ShellView } from './frame/shell.ts';
import type { EventView } from './incident/events.ts';
import type { ComponentRowView, SectionView } from './page/component-rows.ts';
import type { Words } from './words/index.ts';

/** The present at the top of a page. Its default slot holds paragraphs about it. */
export interface BannerProps {
  readonly state: State;
  readonly heading: string;
  /** Of the heading, where a name in it is in another language. */
  readonly pieces?: Pieces | undefined;
  /** `auto` where the heading is a name that somebody chose. */
  readonly dir?: 'auto';
  /** Null on a page that does not follow the present. */
  readonly freshness: FreshnessView | null;
  readonly words: Words;
}

/** Logo or title, and the way to the other pages. */
export interface HeaderProps {
  readonly shell: ShellView;
  readonly words: Words;
}

/** What stands at the end of every page. Its default slot holds how uptime is counted, where a page says that. */
export type FooterProps = HeaderProps;

/** A component on the status page: an item of a list. */
export interface ComponentRowProps {
  readonly component: ComponentRowView;
  readonly words: Words;
  readonly heading: 'h3' | 'h4';
}

/** Components below one heading, or those that stand below none. */
export interface GroupProps {
  readonly section: SectionView;
  readonly words: Words;
}

/** An incident or a maintenance in a list. */
export interface IncidentCardProps {
  readonly event: EventView;
  readonly words: Words;
}

export type { ComponentRowView, EventView, FreshnessView, SectionView, ShellView, State, Words };
