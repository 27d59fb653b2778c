/** Every operation of the API: the one table that requests are answered by and the OpenAPI document is made from. */

import { z } from 'zod';
import { later, toEpochMs, toIso } from '../model/time.ts';
import type { Database } from '../store/database.ts';
import { readWritten } from '../store/written/posts.ts';
import type { ApiScope } from '../store/written/tokens.ts';
import { shortId } from '../views/text/addresses.ts';
import {
  ComponentAnswerSchema,
  componentList,
  IncidentAnswerSchema,
  incidentAnswer,
  incidentList,
  type ListName,
  overridesOf,
} from './answers.ts';
import { changedPost, newPost } from './change-post.ts';
import { idWords } from './post-id.ts';
import { checked, faultAt, Refusal } from './refusal.ts';
import {
  ComponentChangeSchema,
  declaredState,
  IncidentChangeSchema,
  instantIn,
  NewIncidentSchema,
} from './requests.ts';
import { type Author, changePost, createPost, type Done, removePost, type Write, writeOnce } from './writer.ts';
import { findComponent, findStory, storiesIn, storyOf, type WritingPage, type WrittenStory } from './writing-page.ts';

export interface Call {
  readonly author: Author;
  /** By their name in the path of the operation. */
  readonly params: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Of `If-Match`; null: there was none. */
  readonly version: number | null;
  readonly database: Database;
  /** A few letters and digits that nobody has had before. */
  readonly newSuffix: () => string;
  /** The page as it is at this moment. */
  readonly load: () => Promise<WritingPage>;
  /** Publishes what was written, and comes back when that is done or takes too long. */
  readonly publish: () => Promise<void>;
}

export interface Operation {
  readonly id: string;
  readonly summary: string;
  readonly methods: readonly ('GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE')[];
  /** Below `/-/v1/pages/{page}/`. */
  readonly path: string;
  readonly scope: ApiScope;
  readonly body: z.ZodType | null;
  readonly status: 200 | 201;
  readonly answer: z.ZodType;
  /** @throws Refusal */
  readonly run: (call: Call) => Promise<unknown>;
}

const list = (name: ListName, path: string, summary: string): Operation => ({
  id: name === 'all' ? 'listIncidents' : `list_${name}`,
  summary,
  methods: ['GET'],
  path,
  scope: 'read',
  body: null,
  status: 200,
  answer: z.array(IncidentAnswerSchema),
  run: async ({ load }) => incidentList(await load(), name),
});

export const OPERATIONS: readonly Operation[] = [
  list('all', 'incidents', 'Incidents and maintenances, newest first, at most 100'),
  {
    id: 'createIncident',
    summary: 'Declare an incident or, with scheduled_for and scheduled_until, schedule maintenance',
    methods: ['POST'],
    path: 'incidents',
    scope: 'incidents',
    body: NewIncidentSchema,
    status: 201,
    answer: IncidentAnswerSchema,
    run: createIncident,
  },
  list('unresolved', 'incidents/unresolved', 'Unresolved incidents and maintenance'),
  list('scheduled', 'incidents/scheduled', 'Planned and current maintenance'),
  list('upcoming', 'incidents/upcoming', 'Maintenance that has not started'),
  list('active_maintenance', 'incidents/active_maintenance', 'Current maintenance'),
  {
    id: 'getIncident',
    summary: 'One incident or maintenance window',
    methods: ['GET'],
    path: 'incidents/{incident}',
    scope: 'read',
    body: null,
    status: 200,
    answer: IncidentAnswerSchema,
    run: async ({ load, params }) => {
      const writing = await load();
      const found = findStory(writing, params['incident'] ?? '');
      if (found === null) throw notThere();
      return 'foreign' in found ? incidentAnswer(writing, found.foreign, null) : answerFor(writing, found);
    },
  },
  {
    id: 'updateIncident',
    summary: 'Add an update (status, body, components), or edit it',
    methods: ['PATCH', 'PUT'],
    path: 'incidents/{incident}',
    scope: 'incidents',
    body: IncidentChangeSchema,
    status: 200,
    answer: IncidentAnswerSchema,
    run: updateIncident,
  },
  {
    id: 'deleteIncident',
    summary: 'Delete it permanently',
    methods: ['DELETE'],
    path: 'incidents/{incident}',
    scope: 'incidents',
    body: null,
    status: 200,
    answer: IncidentAnswerSchema,
    run: async (call) => {
      const writing = await call.load();
      const own = ownStory(writing, call.params['incident'] ?? '');
      const answer = answerFor(writing, own);
      const { version } = call;
      await done(call, async (tx) => {
        await removePost(tx, call.author, { id: own.row.id, action: 'incident-delete', version });
        return own.row.id;
      });
      return answer;
    },
  },
  {
    id: 'listComponents',
    summary: 'Components and groups in the order of the page',
    methods: ['GET'],
    path: 'components',
    scope: 'read',
    body: null,
    status: 200,
    answer: z.array(ComponentAnswerSchema),
    run: async ({ load }) => componentList(await load()),
  },
  {
    id: 'getComponent',
    summary: 'One component',
    methods: ['GET'],
    path: 'components/{component}',
    scope: 'read',
    body: null,
    status: 200,
    answer: ComponentAnswerSchema,
    run: async ({ load, params }) => {
      const writing = await load();
      return componentAnswer(writing, componentOf(writing, params['component'] ?? ''));
    },
  },
  {
    id: 'updateComponent',
    summary: 'Override the state of a component until it is set to operational',
    methods: ['PATCH', 'PUT'],
    path: 'components/{component}',
    scope: 'components',
    body: ComponentChangeSchema,
    status: 200,
    answer: ComponentAnswerSchema,
    run: overrideComponent,
  },
];

async function createIncident(call: Call): Promise<unknown> {
  const { incident } = checked(NewIncidentSchema, call.body);
  const { author } = call;
  const writing = await call.load();
  const document = newPost(incident, { writing, now: author.now });
  const { id } = await done(call, async (tx) => {
    const fresh = `${idWords(incident.name, author.now)}-${call.newSuffix()}`;
    await createPost(tx, author, { id: fresh, document, action: 'incident-new' });
    return fresh;
  });
  return answerAfter(call, id);
}

async function updateIncident(call: Call): Promise<unknown> {
  const { incident } = checked(IncidentChangeSchema, call.body);
  const { author, version } = call;
  const writing = await call.load();
  const own = ownStory(writing, call.params['incident'] ?? '');
  const { id } = await done(call, async (tx) => {
    await changePost(tx, author, {
      id: own.row.id,
      action: 'incident-update',
      version,
      change: (document) => changedPost(document, incident, { writing, now: author.now }),
    });
    return own.row.id;
  });
  return answerAfter(call, id);
}

async function overrideComponent(call: Call): Promise<unknown> {
  const { component } = checked(ComponentChangeSchema, call.body);
  const { author } = call;
  const writing = await call.load();
  const id = componentOf(writing, call.params['component'] ?? '');
  const ref = `${writing.page.definition.id}/${id}`;
  const state = declaredState(component.status);
  const name = writing.model.components.find(({ definition }) => definition.id === id)?.name ?? id;
  await done(call, async (tx) => {
    const written = storiesIn(await readWritten(tx, author.page.key));
    for (const { row } of overridesOf(written, id)) await endOverride(tx, author, row.id);
    if (state === 'operational') return id;
    const fresh = `override-${idWords(name, author.now)}-${call.newSuffix()}`;
    await createPost(tx, author, {
      id: fresh,
      document: {
        post: {
          type: 'override',
          title: name.slice(0, 256),
          draft: false,
          component: ref,
          state,
          from: toIso(author.now),
        },
        opening: '',
        updates: [],
      },
      action: 'component-override',
    });
    return fresh;
  });
  return componentAnswer(await call.load(), id);
}

/** Taken back by now; one that somebody else took back meanwhile stays as it is. */
async function endOverride(tx: Parameters<Write>[0], author: Author, id: string): Promise<void> {
  await changePost(tx, author, {
    id,
    action: 'component-release',
    version: null,
    change: (document) => {
      const { post } = document;
      if (post.type !== 'override' || post.to !== undefined) return document;
      const to = later(author.now, toEpochMs(instantIn(post.from) + 1));
      return { ...document, post: { ...post, to: toIso(to) } };
    },
  });
}

async function done(call: Call, write: Write): Promise<Done> {
  const result = await writeOnce(call.database, call.author, write);
  if (!result.isReplay) await call.publish();
  return result;
}

async function answerAfter(call: Call, id: string): Promise<unknown> {
  const writing = await call.load();
  const own = writing.written.find(({ row }) => row.id === id);
  if (own === undefined) throw new Refusal(404, 'It has been deleted in the meantime.');
  return answerFor(writing, own);
}

function answerFor(writing: WritingPage, own: WrittenStory): unknown {
  const story = storyOf(writing, own.row.id);
  if (story === null) throw new Refusal(409, 'It was saved, but contains nothing that the page can show.');
  return incidentAnswer(writing, story, own);
}

function ownStory(writing: WritingPage, id: string): WrittenStory {
  const found = findStory(writing, id);
  if (found === null) throw notThere();
  if ('foreign' in found)
    throw new Refusal(
      409,
      'It wasn’t created here: it comes from an upstream or was detected automatically. To take it over, declare an incident with the same components.',
    );
  return found;
}

function componentOf(writing: WritingPage, id: string): string {
  const found = findComponent(writing, id);
  if (found === null) throw notThere();
  return found;
}

function componentAnswer(writing: WritingPage, id: string): unknown {
  const known = shortId('component', writing.model.definition.id, id);
  const found = componentList(writing).find((component) => component.id === known);
  if (found === undefined) throw faultAt('component', 'is not shown on this page');
  return found;
}

function notThere(): Refusal {
  return new Refusal(404, 'Not found.');
}
