import { type FeedInputs, feedView } from '../../../views/feeds/feeds.ts';
import { atomText, jsonFeedText, rssText } from '../feed-text.ts';
import { fileKind } from '../file-kind.ts';

export const ATOM = fileKind(
  import.meta.url,
  { name: 'atom', contentType: 'application/atom+xml; charset=utf-8' },
  (inputs: FeedInputs) => atomText(feedView(inputs)),
);
export const RSS = fileKind(
  import.meta.url,
  { name: 'rss', contentType: 'application/rss+xml; charset=utf-8' },
  (inputs: FeedInputs) => rssText(feedView(inputs)),
);
export const JSON_FEED = fileKind(
  import.meta.url,
  { name: 'json-feed', contentType: 'application/feed+json; charset=utf-8' },
  (inputs: FeedInputs) => jsonFeedText(feedView(inputs)),
);
