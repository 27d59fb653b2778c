/** API operations on incidents and maintenances, their updates and postmortems. */

import { z } from 'zod';
import type { PageIncident } from '../model/page.ts';
import { type EpochMs, toIso } from '../model/time.ts';
import type { WrittenPost } from '../sync/connectors/markdown/written.ts';
import { isOpen } from '../views/incident/events.ts';
import { shortId } from '../views/text/addresses.ts';
import {
  findStories,
  type IncidentAnswer,
  IncidentAnswerSchema,
  incidentAnswer,
  incidentAnswers,
  type ListName,
  PostmortemAnswerSchema,
  UpdateAnswerSchema,
} from './answers.ts';
import {
  applyChange,
  editUpdate,
  findPostmortem,
  newPost,
  publishPostmortem,
  revertPostmortem,
} from './change-post.ts';
import {
  type Call,
  listPart,
  type Operation,
  read,
  required,
  stillThere,
  writeAndPublish,
  writer,
} from './operation.ts';
import {
  faultAt,
  IncidentChangeSchema,
  type IncidentRequest,
  isSet,
  type NewIncidentRequest,
  NewIncidentSchema,
  PostmortemSchema,
  PublishPostmortemSchema,
  Refusal,
  readIncident,
  readRequest,
  UpdateChangeSchema,
} from './requests.ts';
import { changePost, createPost, idWords, removePost } from './writer.ts';
import { findStory, isMaintenance, storyOf, type WritingPage, type WrittenStory } from './writing-page.ts';

const LISTS: readonly (readonly [ListName, path: string, summary: string, differs?: string])[] = [
  ['all', '', 'Incidents and maintenances, newest first', 'also lists what was detected, and what upstreams report'],
  ['unresolved', '/unresolved', 'Unresolved incidents'],
  ['scheduled', '/scheduled', 'Planned and current maintenance'],
  ['upcoming', '/upcoming', 'Maintenance that has not started'],
  ['active_maintenance', '/active_maintenance', 'Current maintenance'],
];
const ONE = 'pages/{page}/incidents/{incident}';
const POSTMORTEM = `${ONE}/postmortem`;
const NO_TWEETS = 'nothing is sent to Twitter';

const write = writer('incidents');

export const INCIDENT_OPERATIONS: readonly Operation[] = [
  ...LISTS.map(([name, path, summary, differs]) =>
    read({
      id: name === 'all' ? 'listIncidents' : `list_${name}`,
      summary,
      path: `pages/{page}/incidents${path}`,
      answer: z.array(IncidentAnswerSchema),
      query: ['q', 'limit', 'per_page', 'page'],
      ...(differs === undefined ? {} : { differs }),
      run: async ({ load, query }) => {
        const writing = await load();
        return incidentAnswers(writing, listPart(findStories(writing, name, query.get('q') ?? ''), query));
      },
    }),
  ),
  write({
    id: 'createIncident',
    summary: 'Declare an incident or, with scheduled_for and scheduled_until, schedule maintenance',
    methods: ['POST'],
    path: 'pages/{page}/incidents',
    body: NewIncidentSchema,
    status: 201,
    answer: IncidentAnswerSchema,
    differs: `fields that Pharos doesn’t have are ignored; ${NO_TWEETS}`,
    run: createIncident,
  }),
  read({
    id: 'getIncident',
    summary: 'One incident or maintenance window',
    path: ONE,
    answer: IncidentAnswerSchema,
    run: async ({ load, params }) => {
      const writing = await load();
      const found = required(findStory(writing, params['incident'] ?? ''));
      return 'foreign' in found ? incidentAnswer(writing, found.foreign, null) : storyAnswer(writing, found);
    },
  }),
  write({
    id: 'updateIncident',
    summary: 'Add an update (status, body, components), or edit it',
    methods: ['PATCH', 'PUT'],
    path: ONE,
    body: IncidentChangeSchema,
    answer: IncidentAnswerSchema,
    differs: 'what was detected becomes an incident of yours, with its id; 409 for what upstreams report',
    run: async (call) => {
      const { incident } = readIncident(IncidentChangeSchema, call.body);
      const writing = await call.load();
      const found = findStory(writing, call.params['incident'] ?? '');
      const detected = found !== null && 'foreign' in found ? found.foreign : null;
      if (detected !== null && !isMaintenance(detected) && detected.isAutomatic && isOpen(detected))
        return takeOver(call, writing, detected, incident);
      const change = (document: WrittenPost, seen: Seen): WrittenPost => applyChange(document, incident, seen);
      return storyAnswer(...(await changeStory(call, writing, { action: 'incident-update', change })));
    },
  }),
  write({
    id: 'deleteIncident',
    summary: 'Delete it permanently',
    methods: ['DELETE'],
    path: ONE,
    answer: IncidentAnswerSchema,
    differs: '409 for what was detected, and for what upstreams report',
    run: async (call) => {
      const writing = await call.load();
      const own = ownStory(writing, call.params['incident'] ?? '');
      const answer = storyAnswer(writing, own);
      const { version } = call;
      await writeAndPublish(call, async (tx) => {
        await removePost(tx, call.author, { id: own.row.id, action: 'incident-delete', version });
        return own.row.id;
      });
      return answer;
    },
  }),
  write({
    id: 'updateIncidentUpdate',
    summary: 'Edit an update',
    methods: ['PATCH', 'PUT'],
    path: `${ONE}/incident_updates/{update}`,
    body: UpdateChangeSchema,
    answer: UpdateAnswerSchema,
    differs: 'the time of an update can’t be changed; whoever was notified isn’t notified again',
    run: updateUpdate,
  }),
  read({
    id: 'getPostmortem',
    summary: 'The postmortem of an incident, with its draft',
    path: POSTMORTEM,
    answer: PostmortemAnswerSchema,
    run: async ({ load, params }) => {
      const writing = await load();
      return postmortemAnswer(ownStory(writing, params['incident'] ?? '').document);
    },
  }),
  write({
    id: 'writePostmortem',
    summary: 'Write the draft of a postmortem',
    methods: ['PUT'],
    path: POSTMORTEM,
    body: PostmortemSchema,
    answer: PostmortemAnswerSchema,
    run: (call) => {
      const { body_draft: body } = readRequest(PostmortemSchema, call.body).postmortem;
      return changePostmortem(call, (document, now) => {
        if (document.post.type !== 'incident') throw faultAt('postmortem', 'only an incident can have a postmortem');
        return { ...document, postmortem: { body, at: now } };
      });
    },
  }),
  write({
    id: 'deletePostmortem',
    summary: 'Delete the postmortem and its draft',
    methods: ['DELETE'],
    path: POSTMORTEM,
    status: 204,
    answer: null,
    run: async (call) => {
      await changeStory(call, await call.load(), {
        action: 'postmortem-delete',
        change: (document, { now }) => {
          postmortemAnswer(document);
          return revertPostmortem(document, 'nothing', now);
        },
      });
    },
  }),
  write({
    id: 'publishPostmortem',
    summary: 'Publish the draft as the last update of a resolved incident',
    methods: ['PUT'],
    path: `${POSTMORTEM}/publish`,
    body: PublishPostmortemSchema,
    answer: PostmortemAnswerSchema,
    differs: `the incident must be resolved; ${NO_TWEETS}`,
    run: (call) => {
      const isNotified = readRequest(PublishPostmortemSchema, call.body).postmortem?.notify_subscribers;
      return changePostmortem(call, (document, now) => publishPostmortem(document, isSet(isNotified, false), now));
    },
  }),
  write({
    id: 'revertPostmortem',
    summary: 'Make the published postmortem a draft again',
    methods: ['PUT'],
    path: `${POSTMORTEM}/revert`,
    answer: PostmortemAnswerSchema,
    run: (call) =>
      changePostmortem(call, (document, now) => {
        postmortemAnswer(document);
        return revertPostmortem(document, 'draft', now);
      }),
  }),
];

async function createIncident(call: Call): Promise<unknown> {
  const { incident } = readIncident(NewIncidentSchema, call.body);
  return create(call, await call.load(), incident);
}

async function create(call: Call, writing: WritingPage, incident: NewIncidentRequest): Promise<IncidentAnswer> {
  const { author } = call;
  const document = newPost(incident, { writing, now: author.now });
  const { id } = await writeAndPublish(call, async (tx) => {
    const fresh = `${idWords(incident.name, author.now)}-${call.newSuffix()}`;
    await createPost(tx, author, { id: fresh, document, action: 'incident-new' });
    return fresh;
  });
  return storyAnswer(...(await reloadStory(call, id)));
}

/** Continues a detected incident as a post. Both have the same components, so the id stays the same. */
function takeOver(
  call: Call,
  writing: WritingPage,
  { title, status, componentIds }: PageIncident,
  { scheduled_for: _, scheduled_until: __, backfilled: ___, ...request }: IncidentRequest,
): Promise<IncidentAnswer> {
  const { name = title, status: wanted = status, component_ids: named = [] } = request;
  return create(call, writing, { ...request, name, status: wanted, component_ids: [...componentIds, ...named] });
}

interface Seen {
  readonly writing: WritingPage;
  readonly now: EpochMs;
}

/** Changes an incident that was written on the page. Returns the page and the incident as they are afterwards. */
async function changeStory(
  call: Call,
  writing: WritingPage,
  { action, change }: { readonly action: string; readonly change: (document: WrittenPost, seen: Seen) => WrittenPost },
): Promise<readonly [WritingPage, WrittenStory]> {
  const { author, version } = call;
  const own = ownStory(writing, call.params['incident'] ?? '');
  const { id } = await writeAndPublish(call, async (tx) => {
    await changePost(tx, author, {
      ...{ id: own.row.id, action, version },
      change: (document) => change(document, { writing, now: author.now }),
    });
    return own.row.id;
  });
  return reloadStory(call, id);
}

async function reloadStory(call: Call, id: string): Promise<readonly [WritingPage, WrittenStory]> {
  const writing = await call.load();
  return [writing, stillThere(writing.written.find(({ row }) => row.id === id))];
}

async function updateUpdate(call: Call): Promise<unknown> {
  const { incident_update: request } = readRequest(UpdateChangeSchema, call.body);
  const before = await call.load();
  const place = findUpdate(before, call.params);
  const [writing, own] = await changeStory(call, before, {
    action: 'incident-edit',
    change: (document) => editUpdate(document, place, request),
  });
  return stillThere(
    storyAnswer(writing, own).incident_updates.find(({ created_at }) => created_at === toIso(place.at)),
  );
}

/** Finds an update by its id. */
function findUpdate(
  writing: WritingPage,
  { incident = '', update = '' }: Call['params'],
): { readonly at: EpochMs; readonly isFirst: boolean } {
  const own = ownStory(writing, incident);
  const story = storyOf(writing, own.row.id);
  const { id: parent } = storyAnswer(writing, own);
  const index = story?.updates.findIndex(({ id }) => shortId('update', parent, id) === update) ?? -1;
  return { at: required(story?.updates[index]).at, isFirst: index === 0 };
}

/** Changes the postmortem or its draft. */
async function changePostmortem(
  call: Call,
  changed: (document: WrittenPost, now: EpochMs) => WrittenPost,
): Promise<unknown> {
  const [, { document }] = await changeStory(call, await call.load(), {
    action: 'postmortem',
    change: (before, { now }) => changed(before, now),
  });
  return postmortemAnswer(document);
}

/** @throws Refusal 404 if there is none */
function postmortemAnswer(document: WrittenPost): unknown {
  const { draft, published } = findPostmortem(document);
  const first = published?.at ?? draft?.at;
  if (first === undefined) throw new Refusal(404, 'There is no postmortem. PUT …/postmortem writes a draft.');
  const publishedAt = published === undefined ? null : toIso(published.at);
  return {
    preview_key: null,
    body: published?.body ?? null,
    body_updated_at: publishedAt,
    body_draft: draft?.body ?? null,
    body_draft_updated_at: draft === undefined ? null : toIso(draft.at),
    published_at: publishedAt,
    notify_subscribers: published !== undefined && published.notify !== false,
    notify_twitter: false,
    custom_tweet: null,
    created_at: toIso(first),
    updated_at: toIso(draft?.at ?? first),
  };
}

function storyAnswer(writing: WritingPage, own: WrittenStory): IncidentAnswer {
  const story = storyOf(writing, own.row.id);
  if (story === null) throw new Refusal(409, 'It was saved, but contains nothing that the page can show.');
  return incidentAnswer(writing, story, own);
}

function ownStory(writing: WritingPage, id: string): WrittenStory {
  const found = required(findStory(writing, id));
  if ('foreign' in found)
    throw new Refusal(
      409,
      'It wasn’t created here: it comes from an upstream or was detected automatically. While a detected incident is open, PATCH takes it over.',
    );
  return found;
}
