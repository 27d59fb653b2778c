/** Every kind of HTML page and the view it draws: the one list that routes, renderer and publisher share. */

import type { badgeGalleryView } from './badges/badge-gallery.ts';
import type { componentView } from './component/component.ts';
import type { verifyView } from './component/verify.ts';
import type { ShellView } from './frame/shell.ts';
import type { historyView } from './history/history.ts';
import type { uptimeCalendarView } from './history/uptime-calendar.ts';
import type { incidentView, maintenanceView } from './incident/incident.ts';
import type { loginView } from './login/login.ts';
import type { opsView } from './operators/ops.ts';
import type { opsSignInView } from './operators/ops-sign-in.ts';
import type { opsWriteView } from './operators/ops-write.ts';
import type { notFoundView } from './page/not-found.ts';
import type { embedView, statusPageView } from './page/status-page.ts';
import type { reportIndexView, reportView } from './report/report.ts';
import type { indexOfPagesView } from './site/index-of-pages.ts';
import type { subscribeView } from './subscribe/subscribe.ts';
import { findWords } from './words/index.ts';

interface ViewMakers {
  readonly 'badge-gallery': typeof badgeGalleryView;
  readonly component: typeof componentView;
  readonly embed: typeof embedView;
  readonly history: typeof historyView;
  readonly incident: typeof incidentView;
  readonly 'index-of-pages': typeof indexOfPagesView;
  readonly login: typeof loginView;
  readonly maintenance: typeof maintenanceView;
  readonly 'not-found': typeof notFoundView;
  readonly ops: typeof opsView;
  readonly 'ops-sign-in': typeof opsSignInView;
  readonly 'ops-write': typeof opsWriteView;
  readonly report: typeof reportView;
  readonly 'report-index': typeof reportIndexView;
  readonly 'status-page': typeof statusPageView;
  readonly subscribe: typeof subscribeView;
  readonly 'uptime-calendar': typeof uptimeCalendarView;
  readonly verify: typeof verifyView;
}
export type ViewByKind = { readonly [Kind in keyof ViewMakers]: ReturnType<ViewMakers[Kind]> };

/** Also the name of the route that draws it. */
export type ViewKind = keyof ViewByKind;

/** What the renderer hands to a route. */
export interface Handed<Kind extends ViewKind = ViewKind> {
  readonly kind: Kind;
  readonly view: ViewByKind[Kind];
}

/** The view that the renderer handed to the route of `kind`, with what every route needs of it. Any other is our own mistake. */
export function openView<Kind extends ViewKind>(handed: Handed, kind: Kind) {
  if (handed.kind !== kind) throw new TypeError(`The route of ${kind} was handed a view of ${handed.kind}`);
  const view = handed.view as ViewByKind[Kind];
  const shell: ShellView = view.shell;
  return { view, shell, words: findWords(shell.locale) };
}
