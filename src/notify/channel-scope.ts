/** Which notices a channel gets: channels are tied to pages, components or monitors. */

import type { Handover } from '../outbox/outbox.ts';
import type { PageNotice } from './news.ts';
import type { Notice } from './notice.ts';

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

/** A configured channel, and how to send a notice to it. */
export interface NoticeChannel extends ChannelScope {
  /** Whom it reaches, each by a message of its own. */
  readonly recipients: readonly string[];
  /** Never throws because of the other side. */
  readonly deliver: (notice: Notice, recipient: string) => Promise<Handover>;
}

/** Whether a notice is of one of the channel's pages, and about one of its components or monitors if it names any. */
export function isTold(scope: ChannelScope, { notice, componentIds, monitors }: PageNotice): boolean {
  const { slug } = notice.page;
  const isOnPage = scope.pages === undefined || scope.pages.includes(slug);
  const namesParts = scope.components !== undefined || scope.monitors !== undefined;
  return (
    isOnPage &&
    (!namesParts ||
      componentIds.some((id) => scope.components?.includes(`${slug}/${id}`)) ||
      monitors.some((id) => scope.monitors?.includes(id)))
  );
}
