/** Every kind of HTML page and the view it draws: the one list that routes, renderer and publisher share. */

import type { HistoryView } from './history.ts';
import type { IncidentView } from './incident.ts';
import type { IndexOfPagesView } from './index-of-pages.ts';
import type { LoginView } from './login.ts';
import type { NotFoundView } from './not-found.ts';
import type { StatusPageView } from './status-page.ts';

export interface ViewByKind {
  readonly 'status-page': StatusPageView;
  readonly incident: IncidentView;
  readonly history: HistoryView;
  readonly 'index-of-pages': IndexOfPagesView;
  readonly login: LoginView;
  readonly 'not-found': NotFoundView;
}

/** Also the name of the route that draws it. */
export type ViewKind = keyof ViewByKind;

export const VIEW_KINDS: readonly ViewKind[] = [
  'status-page',
  'incident',
  'history',
  'index-of-pages',
  'login',
  'not-found',
];

/** What the renderer hands to a route. */
export interface Handed<Kind extends ViewKind = ViewKind> {
  readonly kind: Kind;
  readonly view: ViewByKind[Kind];
}

/** The view that the renderer handed to the route of `kind`. Any other is our own mistake. */
export function viewOf<Kind extends ViewKind>(handed: Handed, kind: Kind): ViewByKind[Kind] {
  if (handed.kind !== kind) throw new TypeError(`The route of ${kind} was handed a view of ${handed.kind}`);
  return handed.view as ViewByKind[Kind];
}
