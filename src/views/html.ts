/** Every kind of HTML page and the view it draws: the one list that routes, renderer and publisher share. */

import type { BadgeGalleryView } from './badges/badge-gallery.ts';
import type { ComponentView } from './component/component.ts';
import type { VerifyView } from './component/verify.ts';
import type { ShellView } from './frame/shell.ts';
import type { HistoryView } from './history/history.ts';
import type { UptimeCalendarView } from './history/uptime-calendar.ts';
import type { IncidentView } from './incident/incident.ts';
import type { MaintenanceView } from './incident/maintenance.ts';
import type { LoginView } from './login/login.ts';
import type { OpsView } from './operators/ops.ts';
import type { OpsSignInView } from './operators/ops-sign-in.ts';
import type { OpsWriteView } from './operators/ops-write.ts';
import type { EmbedView } from './page/embed.ts';
import type { NotFoundView } from './page/not-found.ts';
import type { StatusPageView } from './page/status-page.ts';
import type { ReportIndexView, ReportView } from './report/report.ts';
import type { IndexOfPagesView } from './site/index-of-pages.ts';
import type { SubscribeView } from './subscribe/subscribe.ts';
import { findWords } from './words/index.ts';

export interface ViewByKind {
  readonly 'badge-gallery': BadgeGalleryView;
  readonly component: ComponentView;
  readonly embed: EmbedView;
  readonly history: HistoryView;
  readonly incident: IncidentView;
  readonly 'index-of-pages': IndexOfPagesView;
  readonly login: LoginView;
  readonly maintenance: MaintenanceView;
  readonly 'not-found': NotFoundView;
  readonly ops: OpsView;
  readonly 'ops-sign-in': OpsSignInView;
  readonly 'ops-write': OpsWriteView;
  readonly report: ReportView;
  readonly 'report-index': ReportIndexView;
  readonly 'status-page': StatusPageView;
  readonly subscribe: SubscribeView;
  readonly 'uptime-calendar': UptimeCalendarView;
  readonly verify: VerifyView;
}

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
