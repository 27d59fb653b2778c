/** API operations on incidents and maintenances, their updates and postmortems. */

import type { PageIncident } from '../model/page.ts';
import { type EpochMs, toIso } from '../model/time.ts';
import type { WrittenPost } from '../sync/connectors/markdown/written.ts';
import { isOpen } from '../views/model/page-state.ts';
import { shortId } from '../views/text/addresses.ts';
import {
  findStories,
  type IncidentAnswer,
  IncidentAnswerSchema,
  incidentAnswer,
  incidentAnswers,
  PostmortemAnswerSchema,
  type Story,
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
import { type Call, listPart, type Operation, required, resource, stillThere, writeAndPublish } from './operation.ts';
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
import {
  changePost,
  createPost,
  findStory,
  freshId,
  isMaintenance,
  removePost,
  storyOf,
  type WritingPage,
  type WrittenStory,
} from './writing-page.ts';

/** Statuspage's shorter lists, by name: what each is called, and which entries it contains. */
const LISTS: Readonly<Record<string, readonly [summary: string, isListed: (story: Story) => boolean]>> = {
  unresolved: ['Unresolved incidents', (story) => !isMaintenance(story) && isOpen(story)],
  scheduled: ['Planned and current maintenance', (story) => isMaintenance(story) && story.status !== 'completed'],
  upcoming: ['Maintenance that has not started', (story) => isMaintenance(story) && story.status === 'scheduled'],
  active_maintenance: ['Current maintenance', ({ status }) => status === 'in_progress' || status === 'verifying'],
};
const ALL = 'pages/{page}/incidents';
const ONE = `${ALL}/{incident}`;
const POSTMORTEM = `${ONE}/postmortem`;
const NO_TWEETS = 'nothing is sent to Twitter';

const incidents = resource('incidents', IncidentAnswerSchema, ({ load }) => load());
const postmortems = resource('incidents', PostmortemAnswerSchema, ({ load }) => load());

export const INCIDENT_OPERATIONS: readonly Operation[] = [
  incidents.list('listIncidents', ALL, {
    ...listing('Incidents and maintenances, newest first', () => true),
    differs: 'also lists what was detected, and what upstreams report',
  }),
  ...Object.entries(LISTS).map(([name, list]) => incidents.list(`list_${name}`, `${ALL}/${name}`, listing(...list))),
  incidents.create('createIncident', ALL, {
    summary: 'Declare an incident or, with scheduled_for and scheduled_until, schedule maintenance',
    body: NewIncidentSchema,
    differs: `fields that Pharos doesn’t have are ignored; ${NO_TWEETS}`,
    run: (call, writing) => create(call, writing, readIncident(NewIncidentSchema, call.body).incident),
  }),
  incidents.get('getIncident', ONE, {
    summary: 'One incident or maintenance window',
    run: ({ params }, writing) => {
      const found = required(findStory(writing, params['incident'] ?? ''));
      return 'foreign' in found ? incidentAnswer(writing, found.foreign, null) : storyAnswer(writing, found);
    },
  }),
  incidents.change('updateIncident', ONE, {
    summary: 'Add an update (status, body, components), or edit it',
    body: IncidentChangeSchema,
    differs: 'what was detected becomes an incident of yours, with its id; 409 for what upstreams report',
    run: async (call, writing) => {
      const { incident } = readIncident(IncidentChangeSchema, call.body);
      const found = findStory(writing, call.params['incident'] ?? '');
      const detected = found !== null && 'foreign' in found ? found.foreign : null;
      if (detected !== null && !isMaintenance(detected) && detected.isAutomatic && isOpen(detected))
        return takeOver(call, writing, detected, incident);
      const change: Change = (document, now) => applyChange(document, incident, { writing, now });
      return storyAnswer(...(await changeStory(call, writing, 'incident-update', change)));
    },
  }),
  incidents.remove('deleteIncident', ONE, {
    summary: 'Delete it permanently',
    differs: '409 for what was detected, and for what upstreams report',
    run: async (call, writing) => {
      const own = ownStory(call, writing);
      const answer = storyAnswer(writing, own);
      const { id } = own.row;
      await writeAndPublish(call, async (tx) => {
        await removePost(tx, call.author, { id, action: 'incident-delete', version: call.version });
        return id;
      });
      return answer;
    },
  }),
  incidents.change('updateIncidentUpdate', `${ONE}/incident_updates/{update}`, {
    summary: 'Edit an update',
    body: UpdateChangeSchema,
    answer: UpdateAnswerSchema,
    differs: 'the time of an update can’t be changed; whoever was notified isn’t notified again',
    run: updateUpdate,
  }),
  postmortems.get('getPostmortem', POSTMORTEM, {
    summary: 'The postmortem of an incident, with its draft',
    run: (call, writing) => postmortemAnswer(ownStory(call, writing).document),
  }),
  postmortems.put('writePostmortem', POSTMORTEM, {
    summary: 'Write the draft of a postmortem',
    body: PostmortemSchema,
    run: (call, writing) => {
      const { body_draft: body } = readRequest(PostmortemSchema, call.body).postmortem;
      return changePostmortem(call, writing, (document, now) => {
        if (document.post.type !== 'incident') throw faultAt('postmortem', 'only an incident can have a postmortem');
        return { ...document, postmortem: { body, at: now } };
      });
    },
  }),
  postmortems.remove('deletePostmortem', POSTMORTEM, {
    summary: 'Delete the postmortem and its draft',
    answer: null,
    run: (call, writing) =>
      changeStory(call, writing, 'postmortem-delete', (document, now) => revert(document, 'nothing', now)),
  }),
  postmortems.put('publishPostmortem', `${POSTMORTEM}/publish`, {
    summary: 'Publish the draft as the last update of a resolved incident',
    body: PublishPostmortemSchema,
    differs: `the incident must be resolved; ${NO_TWEETS}`,
    run: (call, writing) => {
      const { postmortem } = readRequest(PublishPostmortemSchema, call.body);
      const isNotified = isSet(postmortem?.notify_subscribers, false);
      return changePostmortem(call, writing, (document, now) => publishPostmortem(document, isNotified, now));
    },
  }),
  postmortems.put('revertPostmortem', `${POSTMORTEM}/revert`, {
    summary: 'Make the published postmortem a draft again',
    run: (call, writing) => changePostmortem(call, writing, (document, now) => revert(document, 'draft', now)),
  }),
];

function listing(summary: string, isListed: (story: Story) => boolean): Parameters<typeof incidents.list>[2] {
  return {
    summary,
    query: ['q', 'limit', 'per_page', 'page'],
    run: ({ query }, writing) =>
      incidentAnswers(writing, listPart(findStories(writing, isListed, query.get('q') ?? ''), query)),
  };
}

async function create(call: Call, writing: WritingPage, incident: NewIncidentRequest): Promise<IncidentAnswer> {
  const { author } = call;
  const document = newPost(incident, { writing, now: author.now });
  const id = await writeAndPublish(call, async (tx) => {
    const fresh = freshId(incident.name, call.newSuffix(), author.now);
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

type Change = (document: WrittenPost, now: EpochMs) => WrittenPost;

/** Changes an incident that was written on the page. Returns the page and the incident as they are afterwards. */
async function changeStory(call: Call, writing: WritingPage, action: string, change: Change) {
  const { author, version } = call;
  const { id } = ownStory(call, writing).row;
  await writeAndPublish(call, async (tx) => {
    await changePost(tx, author, { id, action, version, change: (document) => change(document, author.now) });
    return id;
  });
  return reloadStory(call, id);
}

async function reloadStory(call: Call, id: string): Promise<readonly [WritingPage, WrittenStory]> {
  const writing = await call.load();
  return [writing, stillThere(writing.written.find(({ row }) => row.id === id))];
}

async function updateUpdate(call: Call, before: WritingPage): Promise<unknown> {
  const { incident_update: request } = readRequest(UpdateChangeSchema, call.body);
  const place = findUpdate(call, before);
  const change: Change = (document) => editUpdate(document, place, request);
  const [writing, own] = await changeStory(call, before, 'incident-edit', change);
  return stillThere(storyAnswer(writing, own).incident_updates.find(({ id }) => id === call.params['update']));
}

/** Finds an update by its id. */
function findUpdate(call: Call, writing: WritingPage) {
  const own = ownStory(call, writing);
  const { id: parent } = storyAnswer(writing, own);
  const updates = storyOf(writing, own.row.id)?.updates ?? [];
  const index = updates.findIndex(({ id }) => shortId('update', parent, id) === call.params['update']);
  const { id, at } = required(updates[index]);
  return { id, at, isFirst: index === 0 };
}

/** Changes the postmortem or its draft. */
async function changePostmortem(call: Call, writing: WritingPage, change: Change): Promise<unknown> {
  const [, { document }] = await changeStory(call, writing, 'postmortem', change);
  return postmortemAnswer(document);
}

/** @throws Refusal 404 if there is none */
function revert(document: WrittenPost, keeps: 'draft' | 'nothing', now: EpochMs): WrittenPost {
  postmortemAnswer(document);
  return revertPostmortem(document, keeps, now);
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

function ownStory({ params }: Call, writing: WritingPage): WrittenStory {
  const found = required(findStory(writing, params['incident'] ?? ''));
  if ('foreign' in found)
    throw new Refusal(
      409,
      'It wasn’t created here: it comes from an upstream or was detected automatically. While a detected incident is open, PATCH takes it over.',
    );
  return found;
}
