/** The entry of the server build: one function that renders a view. Only `renderer.ts` loads it, from the build folder. */

import { createApp } from 'astro/app/entrypoint';
import { FetchState } from 'astro/fetch';
import { renderToString } from 'astro/runtime/server/index.js';
import { HEAD_SCRIPT, OFFER_SCRIPT } from '../../layouts/head-script.ts';
import type { PAGE_SCRIPTS } from '../../model/slugs.ts';
import type { Handed } from '../../views/html.ts';
import { BLOCKING_SCRIPT, drawTemplate, MODULE_SCRIPT } from './template-runtime.ts';

const { manifest } = createApp({ streaming: false });

/** The inlined styles of every page of a route, by the route's name. */
export const stylesByKind: ReadonlyMap<string, readonly string[]> = new Map(
  manifest.routes.map(({ routeData, styles }) => [
    routeData.route.slice(1),
    styles.flatMap((style) => (style.type === 'inline' ? [style.content] : [])),
  ]),
);

/** Scripts that a page may load from a file: its name, and where Astro found the script. */
const PLACES: Readonly<Record<(typeof PAGE_SCRIPTS)[number], string>> = {
  'days.js': 'components/days/DayTip.astro?astro&type=script&index=0',
  'enhance.js': 'layouts/Page.astro?astro&type=script&index=1',
};
const found = Object.entries(PLACES).map(([name, place]) => {
  const [id, content] = [...manifest.inlinedScripts].find(([one]) => one.includes(place)) ?? [];
  if (id === undefined || content === undefined) throw new TypeError(`There is no script in ${place}`);
  return { name, id, content };
});
/** Names and contents of them. */
export const scriptFiles: readonly (readonly [name: string, content: string])[] = found.map(({ name, content }) => [
  name,
  content,
]);
const NO_SCRIPTS: ReadonlySet<string> = new Set();
const FILE_SCRIPTS: ReadonlySet<string> = new Set(found.map(({ id }) => id));

// Otherwise Astro would hash the styles of a page for each rendering, for a header with the same contents.
manifest.shouldInjectCspMetaTags = false;

/** A page. */
export interface DrawnPage {
  readonly html: string;
  /** Elements that belong in place of `STYLES_PLACE`: most of a page, and the same for all of its kind. Empty: they are in it. */
  readonly styles: string;
  /** Contents of its scripts, with those that it loads from files. */
  readonly scripts: readonly string[];
}

/** What draws one kind of page. */
type DrawKind = (handed: Handed, hasFiles: boolean) => DrawnPage | Promise<DrawnPage>;

/** By kind, cached because finding a template takes a while. */
const kinds = new Map<string, Promise<DrawKind>>();

/** No page has an empty one of its own. */
export const STYLES_PLACE = '<style></style>';

/**
 * Renders a view by calling the page's template directly. Astro's own way returns an HTTP response, which would have to be taken
 * apart again and takes as long as rendering a small page.
 *
 * @param hasFiles  the scripts that have files are left out
 */
export async function draw(handed: Handed, hasFiles: boolean): Promise<DrawnPage> {
  const drawKind = await kinds.getOrInsertComputed(handed.kind, loadKind);
  return drawKind(handed, hasFiles);
}

async function loadKind(kind: string): Promise<DrawKind> {
  const styles = stylesByKind.get(kind);
  if (styles === undefined) throw new TypeError(`There is no route for views of ${kind}`);
  const instance = await loadTemplate(kind);
  if ('isAstroComponentFactory' in instance.default)
    return async (handed, hasFiles) => {
      const { html, renderedScripts } = await drawWithAstro(instance, handed);
      return finish(handed, { html: placeScripts(html, hasFiles), styles: '' }, renderedScripts);
    };
  const elements = styles.map((style) => `<style>${style}</style>`).join('');
  return (handed, hasFiles) => {
    const renderedScripts = new Set<string>();
    const { inlinedScripts } = manifest;
    const fileScripts = hasFiles ? FILE_SCRIPTS : NO_SCRIPTS;
    const drawing = { handed, styles: STYLES_PLACE, inlinedScripts, fileScripts, renderedScripts };
    const html = `<!DOCTYPE html>${drawTemplate(instance.default, drawing)}`;
    return finish(handed, { html, styles: elements }, renderedScripts);
  };
}

type Instance = Awaited<ReturnType<typeof loadTemplate>>;

/** Without a request, for which Node would load its whole `fetch`: that takes as long as drawing some twenty pages. */
async function loadTemplate(kind: string) {
  const route = manifest.routes.find(({ routeData }) => routeData.route.slice(1) === kind);
  const module = await manifest.pageMap?.get(route?.routeData.component ?? '')?.();
  if (module === undefined) throw new TypeError(`There is no template for views of ${kind}`);
  return module.page();
}

/** A build with an operator's components, which may use all that Astro has. */
async function drawWithAstro(instance: Instance, handed: Handed) {
  const state = new FetchState(new Request(`http://renderer.invalid/${handed.kind}/`));
  state.locals = { handed };
  const result = await state.createResult(instance, state.getActionAPIContext());
  const drawn = await renderToString(result, instance.default, {}, {}, true);
  if (typeof drawn !== 'string') throw new TypeError(`It ended with ${drawn.status}`);
  return { html: drawn, renderedScripts: result._metadata.renderedScripts };
}

/** As `template-runtime.ts` does. */
function placeScripts(drawn: string, hasFiles: boolean): string {
  const at = drawn.indexOf(MODULE_SCRIPT);
  const isInHead = at !== -1 && drawn.indexOf('</head>', at) !== -1;
  const html = isInHead ? drawn.slice(0, at) + BLOCKING_SCRIPT + drawn.slice(at + MODULE_SCRIPT.length) : drawn;
  if (!hasFiles) return html;
  return scriptFiles.reduce((rest, [, content]) => rest.replace(`${MODULE_SCRIPT}${content}</script>`, ''), html);
}

function finish({ view }: Handed, drawn: Omit<DrawnPage, 'scripts'>, renderedScripts: ReadonlySet<string>): DrawnPage {
  // A page in one language has none to offer, and is long to search.
  const ahead = view.shell.languages.length === 0 ? [HEAD_SCRIPT] : [HEAD_SCRIPT, OFFER_SCRIPT];
  const inlined = [...manifest.inlinedScripts].filter(([id]) => renderedScripts.has(id));
  const scripts = [...ahead.filter((script) => drawn.html.includes(script)), ...inlined.map(([, content]) => content)];
  return { ...drawn, scripts };
}
