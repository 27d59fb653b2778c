/**
 * API operations on components and groups. Any component's state can be declared; only those created over the API can
 * be changed.
 */

import { z } from 'zod';
import type { ComponentDefinition } from '../model/observation.ts';
import { later, toEpochMs, toIso } from '../model/time.ts';
import type { Writer } from '../store/database.ts';
import { deleteMade, type MadeComponent, readMade, saveMade } from '../store/written/components.ts';
import { readWritten } from '../store/written/posts.ts';
import { v2ComponentId, v2GroupId } from '../views/v2/components.ts';
import { ComponentAnswerSchema, componentList, GroupAnswerSchema, openOverrides } from './answers.ts';
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
  ComponentChangeSchema,
  type ComponentRequest,
  declaredState,
  faultAt,
  GroupChangeSchema,
  instantIn,
  isSet,
  NewComponentSchema,
  NewGroupSchema,
  Refusal,
  readRequest,
} from './requests.ts';
import { type Author, changePost, createPost, idWords, slugWords, writeAudit } from './writer.ts';
import { findComponent, findGroup, storiesIn, type WritingPage } from './writing-page.ts';

/** Limit for one page. */
const MADE_MAX = 1_000;
const KEPT = 'showcase, only_show_if_degraded and start_date are returned and change nothing';

const write = writer('components');

export const COMPONENT_OPERATIONS: readonly Operation[] = [
  read({
    id: 'listComponents',
    summary: 'Components and groups in the order of the page',
    path: 'pages/{page}/components',
    answer: z.array(ComponentAnswerSchema),
    query: ['page', 'per_page'],
    run: async ({ load, query }) => listPart(componentList(await load()), query),
  }),
  write({
    id: 'createComponent',
    summary: 'Make a component, shown after those of the configuration',
    methods: ['POST'],
    path: 'pages/{page}/components',
    body: NewComponentSchema,
    status: 201,
    answer: ComponentAnswerSchema,
    differs: KEPT,
    run: createComponent,
  }),
  read({
    id: 'getComponent',
    summary: 'One component or group',
    path: 'pages/{page}/components/{component}',
    answer: ComponentAnswerSchema,
    run: async ({ load, params: { component: named = '' } }) => {
      const writing = await load();
      return componentAnswer(writing, required(findComponent(writing, named) ?? findGroup(writing, named)));
    },
  }),
  write({
    id: 'updateComponent',
    summary: 'Declare the state of a component until it is set to operational; change one that was made here',
    methods: ['PATCH', 'PUT'],
    path: 'pages/{page}/components/{component}',
    body: ComponentChangeSchema,
    answer: ComponentAnswerSchema,
    differs: `a state can’t be better than what its monitor reports; 409 for other changes of components that are defined elsewhere; ${KEPT}`,
    run: updateComponent,
  }),
  write({
    id: 'deleteComponent',
    summary: 'Delete a component that was made here',
    methods: ['DELETE'],
    path: 'pages/{page}/components/{component}',
    status: 204,
    answer: null,
    differs: '409 for components that are defined elsewhere',
    run: async (call) => {
      const writing = await call.load();
      const id = required(findComponent(writing, call.params['component'] ?? ''));
      const { id: made } = madeHere(writing, id);
      await writeAndPublish(call, async (tx) => {
        await endOverrides(tx, call.author, made);
        await deleteMade(tx, await currentMade(tx, call.author, made));
        await writeAudit(tx, call.author, { action: 'component-delete', outcome: made });
        return made;
      });
    },
  }),
  read({
    id: 'listComponentGroups',
    summary: 'Groups in the order of the page',
    path: 'pages/{page}/component-groups',
    answer: z.array(GroupAnswerSchema),
    query: ['page', 'per_page'],
    run: async ({ load, query }) => listPart(groupList(await load()), query),
  }),
  write({
    id: 'createComponentGroup',
    summary: 'Make a group of components that were made here',
    methods: ['POST'],
    path: 'pages/{page}/component-groups',
    body: NewGroupSchema,
    status: 201,
    answer: GroupAnswerSchema,
    differs: 'only for components that were made over the API, else 409',
    run: createGroup,
  }),
  read({
    id: 'getComponentGroup',
    summary: 'One group',
    path: 'pages/{page}/component-groups/{group}',
    answer: GroupAnswerSchema,
    run: async ({ load, params }) => {
      const writing = await load();
      return groupAnswer(writing, required(findGroup(writing, params['group'] ?? '')));
    },
  }),
  write({
    id: 'updateComponentGroup',
    summary: 'Change a group that was made here, and which components made here a group has',
    methods: ['PATCH', 'PUT'],
    path: 'pages/{page}/component-groups/{group}',
    body: GroupChangeSchema,
    answer: GroupAnswerSchema,
    differs: '409 for changes of groups and components that are defined elsewhere',
    run: updateGroup,
  }),
  write({
    id: 'deleteComponentGroup',
    summary: 'Delete a group that was made here; its components stay',
    methods: ['DELETE'],
    path: 'pages/{page}/component-groups/{group}',
    answer: GroupAnswerSchema,
    differs: '409 for groups that are defined elsewhere',
    run: async (call) => {
      const writing = await call.load();
      const { id } = madeHere(writing, required(findGroup(writing, call.params['group'] ?? '')));
      const answer = groupAnswer(writing, id);
      await writeAndPublish(call, async (tx) => {
        await fillGroup(tx, call, { writing, group: id, members: [] });
        await deleteMade(tx, await currentMade(tx, call.author, id));
        await writeAudit(tx, call.author, { action: 'component-group-delete', outcome: id });
        return id;
      });
      return answer;
    },
  }),
];

async function createComponent(call: Call): Promise<unknown> {
  const { component } = readRequest(NewComponentSchema, call.body, ['description', 'group_id']);
  const { author, newSuffix } = call;
  const writing = await call.load();
  const groupId = readGroupId(writing, component);
  const { id } = await writeAndPublish(call, async (tx) => {
    const fresh = await freshId(tx, author, component.name, newSuffix());
    await saveMade(tx, applyChange(makeNew(author, 'component', fresh), component, groupId));
    await writeAudit(tx, author, { action: 'component-new', outcome: fresh });
    await declare(tx, call, { ref: `${writing.page.definition.id}/${fresh}`, name: component.name }, component.status);
    return fresh;
  });
  return componentAnswer(await call.load(), id);
}

async function updateComponent(call: Call): Promise<unknown> {
  const { component } = readRequest(ComponentChangeSchema, call.body, ['description', 'group_id']);
  const { author } = call;
  const writing = await call.load();
  const named = call.params['component'] ?? '';
  if (findComponent(writing, named) === null && findGroup(writing, named) !== null)
    throw new Refusal(409, 'It is a group: change it at component-groups/<id>. Its state follows from its components.');
  const id = required(findComponent(writing, named));
  const shown = required(writing.model.components.find(({ definition }) => definition.id === id));
  const groupId = readGroupId(writing, component);
  const made = isMadeHere(writing, id);
  if (!made)
    refuseChanges(writing, {
      name: [component.name, shown.plainName],
      names: requestedNames(component, shown.definition),
      description: [component.description, shown.description],
      group_id: [groupId, shown.definition.groupId],
    });
  const ref = `${writing.page.definition.id}/${id}`;
  await writeAndPublish(call, async (tx) => {
    if (made) {
      const before = await currentMade(tx, author, id);
      const after = applyChange(before, component, groupId);
      if (JSON.stringify(after) !== JSON.stringify(before)) {
        await saveMade(tx, after);
        await writeAudit(tx, author, { action: 'component-change', outcome: id });
      }
    }
    return (await declare(tx, call, { ref, name: component.name ?? shown.name }, component.status)) ?? id;
  });
  return componentAnswer(await call.load(), id);
}

function makeNew({ page, now }: Author, kind: MadeComponent['kind'], id: string): MadeComponent {
  return {
    ...{ page: page.key, id, kind, name: '', description: null, groupId: null },
    ...{ showcase: true, onlyIfDegraded: false, startDate: null, createdAt: now },
  };
}

/** Applies a request to a component. The group was looked up before. */
function applyChange(
  made: MadeComponent,
  request: ComponentRequest,
  groupId: string | null | undefined,
): MadeComponent {
  return {
    ...withNames(made, request),
    name: request.name ?? made.name,
    description: request.description === undefined ? made.description : request.description,
    groupId: groupId === undefined ? made.groupId : groupId,
    showcase: isSet(request.showcase, made.showcase),
    onlyIfDegraded: isSet(request.only_show_if_degraded, made.onlyIfDegraded),
    startDate: request.start_date ?? made.startDate,
  };
}

/** Merges the translated names with those in a request; null removes one. */
function withNames({ names, ...made }: MadeComponent, request: Pick<ComponentRequest, 'names'>): MadeComponent {
  const kept = Object.entries({ ...names, ...request.names }).filter((one): one is [string, string] => one[1] !== null);
  return kept.length === 0 ? made : { ...made, names: Object.fromEntries(kept) };
}

/** Undefined: the request doesn’t mention a group. @throws Refusal 422 if there is no such group */
function readGroupId(writing: WritingPage, { group_id: wanted }: ComponentRequest): string | null | undefined {
  if (wanted === undefined) return undefined;
  if (wanted === null || wanted === '') return null;
  const found = findGroup(writing, wanted);
  if (found === null)
    throw faultAt('component.group_id', 'No such group on this page. GET component-groups lists them.');
  return found;
}

/** Declares the state of a component, or withdraws it. Returns the id of the post; null: there is none. */
async function declare(
  tx: Writer,
  { author, newSuffix }: Call,
  { ref, name }: { readonly ref: string; readonly name: string },
  status: ComponentRequest['status'],
): Promise<string | null> {
  if (status === undefined) return null;
  const state = declaredState(status);
  await endOverrides(tx, author, ref.slice(ref.lastIndexOf('/') + 1));
  if (state === 'operational') return null;
  const fresh = `override-${idWords(name, author.now)}-${newSuffix()}`;
  const post = { type: 'override', title: name.slice(0, 256), draft: false, component: ref, state } as const;
  const document = { post: { ...post, from: toIso(author.now) }, opening: '', updates: [] };
  await createPost(tx, author, { id: fresh, document, action: 'component-override' });
  return fresh;
}

/** Ends all open overrides of a component. */
async function endOverrides(tx: Writer, author: Author, component: string): Promise<void> {
  const written = storiesIn(await readWritten(tx, author.page.key));
  for (const { row } of openOverrides(written, component))
    await changePost(tx, author, {
      id: row.id,
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

async function createGroup(call: Call): Promise<unknown> {
  const { component_group: wanted, ...others } = readRequest(NewGroupSchema, call.body, ['description']);
  const { author, newSuffix } = call;
  const writing = await call.load();
  const members = requireMembers(writing, wanted.components ?? []);
  const { id } = await writeAndPublish(call, async (tx) => {
    const fresh = await freshId(tx, author, wanted.name, newSuffix());
    const description = wanted.description ?? others.description ?? null;
    await saveMade(tx, withNames({ ...makeNew(author, 'group', fresh), name: wanted.name, description }, wanted));
    await fillGroup(tx, call, { writing, group: fresh, members });
    await writeAudit(tx, author, { action: 'component-group-new', outcome: fresh });
    return fresh;
  });
  return groupAnswer(await call.load(), id);
}

async function updateGroup(call: Call): Promise<unknown> {
  const { component_group: wanted, ...others } = readRequest(GroupChangeSchema, call.body, ['description']);
  const { author } = call;
  const writing = await call.load();
  const id = required(findGroup(writing, call.params['group'] ?? ''));
  const description = wanted.description === undefined ? others.description : wanted.description;
  const isMade = isMadeHere(writing, id);
  const shown = writing.model.groups.find((group) => group.id === id);
  if (!isMade)
    refuseChanges(writing, {
      name: [wanted.name, shown?.name],
      names: requestedNames(wanted, shown),
      description: [description, null],
    });
  const members = wanted.components === undefined ? null : requireMembers(writing, wanted.components);
  await writeAndPublish(call, async (tx) => {
    if (isMade) {
      const before = await currentMade(tx, author, id);
      const after = { name: wanted.name ?? before.name, ...(description === undefined ? {} : { description }) };
      await saveMade(tx, withNames({ ...before, ...after }, wanted));
      await writeAudit(tx, author, { action: 'component-group-change', outcome: id });
    }
    if (members !== null) await fillGroup(tx, call, { writing, group: id, members });
    return id;
  });
  return groupAnswer(await call.load(), id);
}

/** Puts exactly these components into a group. @throws Refusal 409 if that moves one that is defined elsewhere */
async function fillGroup(
  tx: Writer,
  { author }: Call,
  { writing, group, members }: { writing: WritingPage; group: string; members: readonly string[] },
): Promise<void> {
  const isMoved = ({ id, groupId }: ComponentDefinition): boolean => (groupId === group) !== members.includes(id);
  for (const { definition, name } of writing.model.components) {
    if (!isMoved(definition)) continue;
    if (!isMadeHere(writing, definition.id))
      throw new Refusal(409, `${name} is defined by ${definedBy(writing)}. Change its group there.`);
    const groupId = members.includes(definition.id) ? group : null;
    await saveMade(tx, { ...(await currentMade(tx, author, definition.id)), groupId });
  }
}

function requireMembers(writing: WritingPage, ids: readonly string[]): readonly string[] {
  return ids.map((id, index) => {
    const found = findComponent(writing, id);
    if (found !== null) return found;
    throw faultAt(`component_group.components.${index}`, 'No such component on this page. GET components lists them.');
  });
}

/** Creates an id that no component of the page ever had. */
async function freshId(tx: Writer, { page }: Author, name: string, suffix: string): Promise<string> {
  if ((await readMade(tx, page.key)).length >= MADE_MAX)
    throw new Refusal(409, `A page can have at most ${MADE_MAX} components and groups that were made over the API.`);
  return [slugWords(name), suffix].filter((part) => part !== '').join('-');
}

/** Whether only the API defines it. */
function isMadeHere({ made, page }: WritingPage, id: string): boolean {
  const { components = [], groups = [] } = page.config ?? {};
  return made.has(id) && ![...components, ...groups].some((one) => one.id === id);
}

/** @throws Refusal 409 if something else defines it */
function madeHere(writing: WritingPage, id: string): { readonly id: string } {
  if (isMadeHere(writing, id)) return { id };
  throw new Refusal(409, `It is defined by ${definedBy(writing)}. Remove it there.`);
}

/** Reads it within the transaction. */
async function currentMade(tx: Writer, { page }: Author, id: string): Promise<MadeComponent> {
  return stillThere((await readMade(tx, page.key)).find((one) => one.id === id));
}

/** @throws Refusal 409 if a request would change what is defined elsewhere. Repeating the current value is fine. */
function refuseChanges(
  writing: WritingPage,
  fields: Readonly<Record<string, readonly [wanted: string | null | undefined, known: string | null | undefined]>>,
): void {
  const changed = Object.entries(fields).find(
    ([, [wanted, known]]) => wanted !== undefined && (wanted ?? '') !== (known ?? ''),
  );
  if (changed !== undefined)
    throw new Refusal(409, `It is defined by ${definedBy(writing)}. Change its ${changed[0]} there.`);
}

/** The names in a request and the current ones, for `refuseChanges`. */
function requestedNames(
  { names: wanted }: Pick<ComponentRequest, 'names'>,
  known: Pick<ComponentDefinition, 'names'> | undefined,
): readonly [string | undefined, string] {
  const tags = Object.keys(wanted ?? {});
  const listOf = (names: Readonly<Record<string, string | null>> = {}) =>
    tags.map((tag) => names[tag] ?? '').join('\n');
  return [wanted && listOf(wanted), listOf(known?.names)];
}

function definedBy({ page: { config, definition } }: WritingPage): string {
  const isOwn = config?.components !== undefined || definition.id.startsWith('config/');
  return isOwn ? 'the configuration' : `the upstream ${definition.id.slice(0, definition.id.indexOf('/'))}`;
}

function componentAnswer(writing: WritingPage, id: string): unknown {
  const { model } = writing;
  const known = [v2ComponentId(model, id), v2GroupId(model, id)];
  return stillThere(componentList(writing).find((component) => known.includes(component.id)));
}

function groupList(writing: WritingPage): readonly z.output<typeof GroupAnswerSchema>[] {
  return componentList(writing).flatMap(({ group, components, ...rest }) =>
    group ? [GroupAnswerSchema.parse({ ...rest, components })] : [],
  );
}

function groupAnswer(writing: WritingPage, id: string): unknown {
  const known = v2GroupId(writing.model, id);
  return stillThere(groupList(writing).find((group) => group.id === known));
}
