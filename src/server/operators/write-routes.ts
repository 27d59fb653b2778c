/** The operators' form at `/-/ops/write`: show, preview and submit. Works without JavaScript. */

import { LRUCache } from 'lru-cache';
import { newToken, type RandomBytes } from '../../access/digest.ts';
import type { IncidentTemplate } from '../../config/schema.ts';
import { capital, FORM_KINDS, type FormKind, formParts, openStories, readPost } from '../../incidents/form.ts';
import { Refusal } from '../../incidents/requests.ts';
import {
  type Author,
  authorPage,
  changePost,
  createPost,
  freshId,
  removePost,
  revealPost,
  type WritingPage,
  type WritingPageInit,
  type WrittenStory,
  writeOnce,
} from '../../incidents/writing-page.ts';
import type { PageKey } from '../../model/slugs.ts';
import type { Fault } from '../../schema/issue-words.ts';
import type { ApiScope } from '../../store/written.ts';
import { type OpsWriteView, opsWriteView } from '../../views/operators/ops-write.ts';
import { type StatusPageView, statusPageView } from '../../views/page/status-page.ts';
import type { ApiRoutesOptions } from './api-routes.ts';
import type { Operator, OperatorSession } from './operator.ts';

interface WriteFormsOptions
  extends Pick<ApiRoutesOptions, 'database' | 'newSuffix' | 'now' | 'clientOf' | 'canRun' | 'templatesOf' | 'publish'> {
  readonly random: RandomBytes;
  readonly pages: () => Promise<readonly FormPage[]>;
  /** @param candidate a post that is shown too */
  readonly load: (slug: string, candidate?: WritingPageInit['candidate']) => Promise<WritingPage | null>;
}

interface FormPage {
  readonly slug: string;
  readonly title: string;
  readonly key: PageKey;
}

/** The operator who uses the form. */
type Writing = Pick<OperatorSession, 'formToken' | 'operator'>;

type FormResult =
  | { readonly kind: 'page'; readonly status: number; readonly view: OpsWriteView }
  | { readonly kind: 'done'; readonly location: string };

const PREVIEWS_MAX = 20;
const PREVIEW_LIFE_MS = 10 * 60_000;
/** The id of a post in a preview that isn’t stored yet. */
const CANDIDATE = 'preview';
const kindWord = (kind: FormKind): string => (kind === 'override' ? 'Component override' : capital(kind));
const DONE: Readonly<Record<string, string>> = {
  sent: 'Published.',
  draft: 'Saved as a draft. Visitors can’t see it.',
  removed: 'Deleted.',
};
/** Actions of the buttons beside a story. */
const STEPS: Readonly<Record<string, { write: typeof removePost; action: string; did: string }>> = {
  remove: { write: removePost, action: 'delete', did: 'removed' },
  reveal: { write: revealPost, action: 'publish', did: 'sent' },
};
const TOLD =
  'Feeds, calendars, JSON and badges change immediately. Subscribers and notification channels, if the page has any, are notified.';

/** The page and post of a form. */
type Subject = NonNullable<Awaited<ReturnType<typeof findSubject>>>;

interface Forms extends WriteFormsOptions {
  readonly previews: LRUCache<string, StatusPageView>;
}

export type WriteForms = ReturnType<typeof createWriteForms>;

/** Creates the forms. */
export function createWriteForms(options: WriteFormsOptions) {
  const forms: Forms = { ...options, previews: new LRUCache({ max: PREVIEWS_MAX, ttl: PREVIEW_LIFE_MS }) };
  return {
    /** Null: the operator may not write on any page. */
    show: async (query: URLSearchParams, by: Writing): Promise<OpsWriteView | null> => {
      const subject = await findSubject(forms, query, by.operator);
      if (subject === null) return null;
      const template = forms.templatesOf(subject.writing.model.definition.slug)[Number(query.get('template') ?? -1)];
      const notice = DONE[query.get('did') ?? ''] ?? null;
      return viewForm(forms, subject, { ...by, notice, template: template ?? null });
    },
    /** Null: as with `show`. The caller has checked the form’s token. */
    submit: async (form: URLSearchParams, by: Writing & { readonly address: string }): Promise<FormResult | null> => {
      const subject = await findSubject(forms, form, by.operator);
      if (subject === null) return null;
      try {
        return await submitForm(forms, subject, { ...by, form });
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return refuseForm(forms, subject, { ...by, form, error });
      }
    },
    /** A recent preview; null: none with this id. */
    preview: (id: string): StatusPageView | null => forms.previews.get(id) ?? null,
  };
}

/** The pages that an operator may write on with a scope. */
async function writablePages({ pages }: Forms, { may }: Operator, scope: ApiScope): Promise<readonly FormPage[]> {
  return (await pages()).filter((page) => may(page, scope) === 'granted');
}

/** Null: the operator may not write on this page, or it doesn’t exist. */
async function findSubject(forms: Forms, fields: URLSearchParams, operator: Operator) {
  const pages = await writablePages(forms, operator, kindScope(fields.get('kind')));
  const slug = fields.get('page') ?? pages[0]?.slug ?? '';
  const page = pages.find((one) => one.slug === slug);
  const writing = page === undefined ? null : await forms.load(slug);
  if (page === undefined || writing === null) return null;
  const own = writing.written.find(({ row }) => row.id === fields.get('id')) ?? null;
  const kind = FORM_KINDS.find((known) => known === (own?.document.post.type ?? fields.get('kind'))) ?? 'incident';
  // A stored post may be of another kind than the query says.
  return operator.may(page, kindScope(kind)) === 'granted' ? { writing, kind, own } : null;
}

interface Drawn extends Writing {
  readonly notice?: string | null;
  readonly faults?: readonly Fault[];
  readonly sent?: URLSearchParams;
  readonly template?: IncidentTemplate | null;
  readonly preview?: OpsWriteView['preview'];
}

/** The view of the form and of what is around it. */
async function viewForm(
  forms: Forms,
  { writing, kind, own }: Subject,
  { formToken, operator, notice = null, faults = [], sent, template = null, preview = null }: Drawn,
): Promise<OpsWriteView> {
  const { slug } = writing.model.definition;
  const hidden = {
    kind,
    key: newToken(forms.random),
    ...(own === null ? {} : { id: own.row.id, version: sent?.get('version') ?? String(own.row.version) }),
  };
  const parts = formParts({ kind, writing, own, template, sent: sent ?? null, faults });
  const placed = new Set([...parts.fields, ...parts.last].map(({ name }) => name));
  return opsWriteView({
    notice,
    faults: faults.filter(({ path }) => !placed.has(path)).map(({ path, message }) => `${path} ${message}`.trim()),
    page: slug,
    pages: (await writablePages(forms, operator, kindScope(kind))).map((page) => ({
      text: page.title,
      href: `write?page=${page.slug}`,
      isCurrent: page.slug === slug,
    })),
    kinds: FORM_KINDS.map((one) => ({
      text: kindWord(one),
      href: `write?page=${slug}&kind=${one}`,
      isCurrent: one === kind && own === null,
    })),
    templates: forms.templatesOf(slug).map((one, index) => ({
      text: one.name,
      href: `write?page=${slug}&kind=${one.kind}&template=${index}`,
      isCurrent: one === template,
    })),
    open: openStories(writing, forms.now()),
    form: {
      heading: own === null ? `New: ${kindWord(kind)}` : `Update: ${own.document.post.title}`,
      hidden: Object.entries(hidden).map(([name, value]) => ({ name, value })),
      publish: own === null || own.document.post.draft ? `Publish ${kind}` : 'Publish update',
      ...parts,
    },
    formToken,
    preview,
  });
}

interface Submitted extends Writing {
  readonly form: URLSearchParams;
  readonly address: string;
}

/** @throws Refusal with nothing written */
async function submitForm(forms: Forms, subject: Subject, by: Submitted): Promise<FormResult> {
  const { form, operator, address } = by;
  const { writing, own, kind } = subject;
  const step = form.get('step') ?? '';
  const now = forms.now();
  const goBack = (did: string): FormResult => ({
    kind: 'done',
    location: `write?page=${writing.model.definition.slug}&did=${did}`,
  });
  if (step === 'remove' && own === null) return goBack('removed');
  if (form.get('id') !== null && own === null)
    throw new Refusal(404, 'It has been deleted in the meantime. What you wrote is below.');
  if (step === 'preview') {
    const preview = await previewPost(forms, subject, readPost(kind, form, { writing, own, now }));
    return { kind: 'page', status: 200, view: await viewForm(forms, subject, { ...by, sent: form, preview }) };
  }
  if (!forms.canRun) throw new Refusal(409, 'This process only serves pages. Use the one that runs `pharos start`.');
  const key = form.get('key') ?? '';
  const author: Author = {
    actor: operator.actor,
    client: forms.clientOf(address),
    now,
    page: authorPage(writing.page),
    // Submitting a form twice counts once. Its contents can’t differ, because each view of the form has another key.
    request: key === '' || key.length > 100 ? null : { key: `form ${key}`, digest: key },
  };
  const act = STEPS[step];
  if (act !== undefined && own !== null) {
    const change = { id: own.row.id, version: versionIn(form), action: `${kind}-${act.action}` };
    await forms.database.transaction((tx) => act.write(tx, author, change));
    await forms.publish();
    return goBack(act.did);
  }
  const document = readPost(kind, form, { writing, own, now });
  await writePost(forms, subject, author, form, document);
  await forms.publish();
  return goBack(document.post.draft ? 'draft' : 'sent');
}

async function previewPost(
  { load, random, previews }: Forms,
  { writing, own }: Subject,
  document: WrittenStory['document'],
): Promise<OpsWriteView['preview']> {
  const after = await load(writing.model.definition.slug, { id: own?.row.id ?? CANDIDATE, document });
  if (after === null) return null;
  const id = newToken(random);
  previews.set(id, statusPageView(after.model));
  const states = new Map(writing.model.components.map(({ definition, state }) => [definition.id, state]));
  const toText = (state: string | undefined): string => (state ?? 'unknown').replaceAll('_', ' ');
  return {
    src: `preview?id=${id}`,
    colours: after.model.components
      .filter(({ definition, state }) => states.get(definition.id) !== state)
      .map(({ definition, name, state }) => `${name}: ${toText(states.get(definition.id))} → ${toText(state)}`),
    told: TOLD,
  };
}

async function writePost(
  { database, newSuffix }: Forms,
  { own, writing, kind }: Subject,
  author: Author,
  form: URLSearchParams,
  document: WrittenStory['document'],
): Promise<void> {
  await writeOnce(database, author, async (tx) => {
    if (own === null) {
      const fresh = freshId(document.post.title, newSuffix(), author.now);
      const id = kind === 'override' ? `override-${fresh}` : fresh;
      await createPost(tx, author, { id, document, action: `${kind}-new` });
      return id;
    }
    await changePost(tx, author, {
      id: own.row.id,
      action: `${kind}-update`,
      version: versionIn(form),
      change: (current) => readPost(kind, form, { writing, own: { ...own, document: current }, now: author.now }),
    });
    return own.row.id;
  });
}

/** Shows the form again as it was filled in, with its errors. If the post changed meanwhile, it gets the current version. */
async function refuseForm(
  forms: Forms,
  subject: Subject,
  { form, error, ...by }: Submitted & { readonly error: Refusal },
): Promise<FormResult> {
  const sent = new URLSearchParams(form);
  if (error.status === 412) sent.delete('version');
  const faults = error.issues.length > 0 ? error.issues : [{ path: '', message: error.message }];
  const current = (await findSubject(forms, form, by.operator)) ?? subject;
  return { kind: 'page', status: error.status, view: await viewForm(forms, current, { ...by, sent, faults }) };
}

function versionIn(form: URLSearchParams): number | null {
  const version = form.get('version') ?? '';
  return /^\d{1,9}$/.test(version) ? Number(version) : null;
}

/** The scope that a kind of form needs. */
function kindScope(kind: string | null): ApiScope {
  return kind === 'override' ? 'components' : 'incidents';
}
