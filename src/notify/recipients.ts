/** Who is told besides subscribers: channels, each tied to pages, components or monitors. */

import type { Delivery } from './channels/channel.ts';
import type { PageNotice } from './news.ts';
import type { Notice } from './notice.ts';

/** What a channel is told of. */
interface ChannelScope {
  /** As configured; it names the channel in the outbox, in metrics and on the operators' page. */
  readonly id: string;
  /** Slugs; absent: all pages. */
  readonly pages?: readonly string[] | undefined;
  /** `<page slug>/<component id>`. */
  readonly components?: readonly string[] | undefined;
  /** `<upstream id>/<external id>`. */
  readonly monitors?: readonly string[] | undefined;
}

/** A channel that is configured, with what hands a notice over to it. */
export interface NoticeChannel extends ChannelScope {
  /** Never throws for what the other side does. */
  readonly deliver: (notice: Notice) => Promise<Delivery>;
}

/**
 * Whether a channel is told of a notice: it is of one of its pages, and about one of its components or monitors, where it
 * names any.
 */
export function isTold(scope: ChannelScope, { notice, componentIds, monitors }: PageNotice): boolean {
  const { slug } = notice.page;
  const isOfPage = scope.pages === undefined || scope.pages.includes(slug);
  const namesParts = scope.components !== undefined || scope.monitors !== undefined;
  return (
    isOfPage &&
    (!namesParts ||
      componentIds.some((id) => scope.components?.includes(`${slug}/${id}`)) ||
      monitors.some((id) => scope.monitors?.includes(id)))
  );
}
