/**
 * What Pharos published, as input for other generators: the same HTML pages with the same components, days and incidents, and
 * minimal templates of our own for plain `astro build` and for Hugo.
 */

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { currentNumber, type ReleaseFolders } from '../../src/publish/releases/folders.ts';
import { readManifest } from '../../src/publish/releases/manifest.ts';
import type { ListedIncident } from './big-site.ts';

export interface PeerComponent {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly uptime: string;
  readonly days: readonly { readonly day: string; readonly state: string }[];
}

/** One status page, and the addresses of all HTML files that it is to have. */
export interface PeerPage {
  readonly slug: string;
  readonly title: string;
  readonly components: readonly PeerComponent[];
  readonly incidents: readonly ListedIncident[];
  readonly files: readonly PeerFile[];
}

export interface PeerFile {
  /** `customer-0/components/c1`, without `index.html`. */
  readonly address: string;
  readonly kind: 'page' | 'component' | 'incident' | 'list';
  /** Of a component or an incident; the last part of the address otherwise. */
  readonly id: string;
}

interface UptimeDocument {
  readonly page: { readonly name: string };
  readonly days: readonly string[];
  readonly components: readonly {
    readonly id: string;
    readonly name: string;
    readonly state: string;
    readonly periods: { readonly '90d': { readonly uptime_ratio: number | null } };
    readonly days: { readonly state: readonly string[] };
  }[];
}

/** Reads a published page back, from the JSON that anybody can read and the list of its files. */
export function peerPageOf(folders: ReleaseFolders, slug: string, incidents: readonly ListedIncident[]): PeerPage {
  const file = join(folders.publicSite, slug, 'api/uptime.json');
  const document = JSON.parse(readFileSync(file, 'utf8')) as UptimeDocument;
  const paths = Object.keys(readManifest(folders, slug, currentNumber(folders, slug) ?? 0)?.files ?? {});
  const components = document.components.map(({ id, name, state, periods, days }) => ({
    id,
    name,
    state,
    uptime: `${((periods['90d'].uptime_ratio ?? 0) * 100).toFixed(3)}%`,
    days: days.state.map((one, index) => ({ day: document.days[index] ?? '', state: one })),
  }));
  const files = paths.filter((path) => path.endsWith('.html')).map((path) => peerFileOf(slug, path));
  const told = files.filter(({ kind }) => kind === 'incident').map(({ id }) => id);
  // Our addresses of incidents are made from their ids and titles; in the same order they are the same incidents.
  return {
    slug,
    title: document.page.name,
    components,
    incidents: incidents
      .slice(0, told.length)
      .map((incident, index) => ({ ...incident, id: told[index] ?? incident.id })),
    files,
  };
}

function peerFileOf(slug: string, path: string): PeerFile {
  const address = path === 'index.html' ? slug : `${slug}/${path.replace(/(\/index)?\.html$/, '')}`;
  const [, folder, id = ''] = address.split('/');
  const isSingle = id !== '' && (folder === 'components' || folder === 'incidents');
  const kind = path === 'index.html' || folder === 'uptime' ? 'page' : 'list';
  if (!isSingle) return { address, kind, id: folder ?? slug };
  return { address, kind: folder === 'components' ? 'component' : 'incident', id };
}

function write(root: string, path: string, text: string): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** What both read, and what changes when a monitor does. */
export function writePeerData(root: string, page: PeerPage): void {
  write(root, `data/${page.slug}.json`, JSON.stringify(page));
}

const STYLE =
  '<style>.bar i{display:inline-block;width:4px;height:2rem;background:#2da44e}.bar .major_outage{background:#cf222e}.bar .unknown{background:#8c959f}</style>';

export function writeAstroSite(root: string): void {
  symlinkSync(resolve(import.meta.dirname, '../../node_modules'), join(root, 'node_modules'));
  write(root, 'package.json', '{"type":"module"}');
  write(
    root,
    'astro.config.mjs',
    "export default { output: 'static', cacheDir: './cache', vite: { cacheDir: './vite' }, compressHTML: true };",
  );
  write(
    root,
    'src/pages-of-site.ts',
    `import { readdirSync, readFileSync } from 'node:fs';
export const pages = readdirSync('data').map((name) => JSON.parse(readFileSync('data/' + name, 'utf8')));
`,
  );
  write(
    root,
    'src/components/Bar.astro',
    `---
const { component } = Astro.props;
---
<section><h2>{component.name}</h2><p>{component.state}, {component.uptime}</p><p class="bar">{component.days.map((one) => <i class={one.state} title={one.day + ': ' + one.state} />)}</p></section>
`,
  );
  write(
    root,
    'src/components/Incident.astro',
    `---
const { incident } = Astro.props;
---
<article><h2>{incident.title}</h2><p>{incident.startedAt} to {incident.endedAt}, {incident.impact}</p>{incident.updates.map((update) => <p><b>{update.status}</b> {update.at} {update.body}</p>)}</article>
`,
  );
  write(
    root,
    'src/pages/[...path].astro',
    `---
import Bar from '../components/Bar.astro';
import Incident from '../components/Incident.astro';
import { pages } from '../pages-of-site.ts';
export function getStaticPaths() {
  return pages.flatMap((page) => page.files.map((file) => ({ params: { path: file.address }, props: { page, file } })));
}
const { page, file } = Astro.props;
const shown = file.kind === 'page' ? page.components : page.components.filter(({ id }) => file.kind === 'component' && id === file.id);
const told = file.kind === 'list' ? page.incidents.slice(0, 50) : page.incidents.filter(({ id }) => file.kind === 'incident' && id === file.id);
---
<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{page.title}</title><Fragment set:html={${JSON.stringify(STYLE)}} /></head>
<body><h1>{page.title}</h1>{shown.map((component) => <Bar component={component} />)}{told.map((incident) => <Incident incident={incident} />)}</body></html>
`,
  );
  write(
    root,
    'src/pages/[slug]/feed.xml.ts',
    `import { pages } from '../../pages-of-site.ts';
export const getStaticPaths = () => pages.map((page) => ({ params: { slug: page.slug }, props: { page } }));
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
export const GET = ({ props: { page } }) => new Response('<rss version="2.0"><channel><title>' + escaped(page.title) + '</title>' +
  page.incidents.slice(0, 50).map((one) => '<item><title>' + escaped(one.title) + '</title><guid>' + one.id + '</guid><description>' + escaped(one.updates[0].body) + '</description></item>').join('') + '</channel></rss>');
`,
  );
}

/** Hugo makes a page of each file of content; what it shows stands in the data. */
export function writeHugoSite(root: string, pages: readonly PeerPage[]): void {
  write(
    root,
    'config.toml',
    'baseURL = "https://status.example/"\ntitle = "Status"\ndisableKinds = ["taxonomy", "term", "RSS", "sitemap", "home", "section", "404"]\ndisableAliases = true\n[outputFormats.feed]\nmediaType = "application/rss+xml"\nbaseName = "feed"\n',
  );
  for (const { slug, files } of pages)
    for (const { address, kind, id } of files) {
      const outputs = address === slug ? ['html', 'feed'] : ['html'];
      // Underlined names are sections to Hugo; these are pages of their own address.
      write(
        root,
        `content/${address.replaceAll('/', '--')}.md`,
        JSON.stringify({ url: `/${address}/`, slug: id, page: slug, kind_of: kind, shown: id, outputs }),
      );
    }
  write(
    root,
    'layouts/partials/bar.html',
    '<section><h2>{{ .name }}</h2><p>{{ .state }}, {{ .uptime }}</p><p class="bar">{{ range .days }}<i class="{{ .state }}" title="{{ .day }}: {{ .state }}"></i>{{ end }}</p></section>\n',
  );
  write(
    root,
    'layouts/partials/incident.html',
    '<article><h2>{{ .title }}</h2><p>{{ .startedAt }} to {{ .endedAt }}, {{ .impact }}</p>{{ range .updates }}<p><b>{{ .status }}</b> {{ .at }} {{ .body }}</p>{{ end }}</article>\n',
  );
  write(
    root,
    'layouts/_default/single.html',
    `{{ $page := index site.Data .Params.page }}{{ $kind := .Params.kind_of }}{{ $id := .Params.shown }}<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{{ $page.title }}</title>${STYLE}</head>
<body><h1>{{ $page.title }}</h1>{{ if eq $kind "page" }}{{ range $page.components }}{{ partial "bar.html" . }}{{ end }}{{ else if eq $kind "component" }}{{ range where $page.components "id" $id }}{{ partial "bar.html" . }}{{ end }}{{ else if eq $kind "incident" }}{{ range where $page.incidents "id" $id }}{{ partial "incident.html" . }}{{ end }}{{ else }}{{ range first 50 $page.incidents }}{{ partial "incident.html" . }}{{ end }}{{ end }}</body></html>
`,
  );
  write(
    root,
    'layouts/_default/single.feed.xml',
    '{{ $page := index site.Data .Params.page }}<rss version="2.0"><channel><title>{{ $page.title }}</title>{{ range first 50 $page.incidents }}<item><title>{{ .title }}</title><guid>{{ .id }}</guid><description>{{ (index .updates 0).body }}</description></item>{{ end }}</channel></rss>\n',
  );
}
