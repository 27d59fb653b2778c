/** Pages whose views cost little, so that the view itself is what they are made from. */

import { htmlKind } from '../file-kind.ts';

export const STATUS_PAGE = htmlKind(import.meta.url, 'status-page');
export const EMBED = htmlKind(import.meta.url, 'embed');
export const NOT_FOUND = htmlKind(import.meta.url, 'not-found');
export const REPORT_INDEX = htmlKind(import.meta.url, 'report-index');
export const INDEX_OF_PAGES = htmlKind(import.meta.url, 'index-of-pages');
