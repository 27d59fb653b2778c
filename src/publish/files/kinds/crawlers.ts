import { llmsText, robotsText, securityText, sitemapText } from '../crawler-text.ts';
import { fileKind } from '../file-kind.ts';

const TEXT_TYPE = 'text/plain; charset=utf-8';

export const ROBOTS = fileKind(import.meta.url, { name: 'robots', contentType: TEXT_TYPE }, robotsText);
export const SECURITY = fileKind(import.meta.url, { name: 'security', contentType: TEXT_TYPE }, securityText);
export const LLMS = fileKind(import.meta.url, { name: 'llms', contentType: TEXT_TYPE }, llmsText);
export const SITEMAP = fileKind(
  import.meta.url,
  { name: 'sitemap', contentType: 'application/xml; charset=utf-8' },
  sitemapText,
);
