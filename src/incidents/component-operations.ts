/**
 * API operations on components and groups. Any component's state can be declared; only those created over the API can
 * be changed.
 */

import type { z } from 'zod';
import type { ComponentDefinition } from '../model/observation.ts';
import { later, toEpochMs, toIso } from '../model/time.ts';
import type { Writer } from '../store/database.ts';
import { deleteMade, type MadeComponent, readMade, readWritten, saveMade } from '../store/written.ts';
import { v2ComponentId, v2GroupId } from '../views/v2/components.ts';
import { ComponentAnswerSchema, componentList, GroupAnswerSchema, openOverrides } from './answers.ts';
import { overridePost } from './change-post.ts';
import { type Call, listPart, type Operation, required, resource, stillThere, writeAndPublish } from './operation.ts';
import {
  ComponentChangeSchema,
  type ComponentRequest,
  declaredState,
  GroupChangeSchema,
  instantIn,
  isSet,
  NewComponentSchema,
  NewGroupSchema,
  Refusal,
  readRequest,
} from './requests.ts';
import {
  changePost,
  createPost,
  findComponent,
  findGroup,
  freshId,
  requireOnPage,
  storiesIn,
  type WritingPage,
  writeAudit,
} from './writing-page.ts';

/** Limit for one page. */
const MADE_MAX = 1_000;
const KEPT = 'showcase, only_show_if_degraded and start_date are returned and change nothing';
const COMPONENTS = 'pages/{page}/components';
const GROUPS = 'pages/{page}/component-groups';

const components = resource('components', ComponentAnswerSchema, ({ load }) => load());
const groups = resource('components', GroupAnswerSchema, ({ load }) => load());

export const COMPONENT_OPERATIONS: readonly Operation[] = [
  components.list('listComponents', COMPONENTS, {
    summary: 'Components and groups in the order of the page',
    run: ({ query }, writing) => listPart(componentList(writing), query),
  }),
  components.create('createComponent', COMPONENTS, {
    summary: 'Make a component, shown after those of the configuration',
    body: NewComponentSchema,
    differs: KEPT,
    run: createComponent,
  }),
  components.get('getComponent', `${COMPONENTS}/{component}`, {
    summary: 'One component or group',
    run: ({ params: { component: named = '' } }, writing) =>
      componentAnswer(writing, required(findComponent(writing, named) ?? findGroup(writing, named))),
  }),
  components.change('updateComponent', `${COMPONENTS}/{component}`, {
    summary: 'Declare the state of a component until it is set to operational; change one that was made here',
    body: ComponentChangeSchema,
    differs: `a state can’t be better than what its monitor reports; 409 for other changes of components that are defined elsewhere; ${KEPT}`,
    run: updateComponent,
  }),
  components.remove('deleteComponent', `${COMPONENTS}/{component}`, {
    summary: 'Delete a component that was made here',
    answer: null,
    differs: '409 for components that are defined elsewhere',
    run: (call, writing) => {
      const id = required(findComponent(writing, call.params['component'] ?? ''));
      return remove(call, writing, id, 'component-delete', (tx) => endOverrides(tx, call, id));
    },
  }),
  groups.list('listComponentGroups', GROUPS, {
    summary: 'Groups in the order of the page',
    run: ({ query }, writing) => listPart(groupList(writing), query),
  }),
  groups.create('createComponentGroup', GROUPS, {
    summary: 'Make a group of components that were made here',
    body: NewGroupSchema,
    differs: 'only for components that were made over the API, else 409',
    run: createGroup,
  }),
  groups.get('getComponentGroup', `${GROUPS}/{group}`, {
    summary: 'One group',
    run: (call, writing) => groupAnswer(writing, requireGroup(call, writing)),
  }),
  groups.change('updateComponentGroup', `${GROUPS}/{group}`, {
    summary: 'Change a group that was made here, and which components made here a group has',
    body: GroupChangeSchema,
    differs: '409 for changes of groups and components that are defined elsewhere',
    run: updateGroup,
  }),
  groups.remove('deleteComponentGroup', `${GROUPS}/{group}`, {
    summary: 'Delete a group that was made here; its components stay',
    differs: '409 for groups that are defined elsewhere',
    run: async (call, writing) => {
      const id = requireGroup(call, writing);
      const answer = groupAnswer(writing, id);
      await remove(call, writing, id, 'component-group-delete', (tx) => fillGroup(tx, call, writing, id, []));
      return answer;
    },
  }),
];

function requireGroup({ params }: Call, writing: WritingPage): string {
  return required(findGroup(writing, params['group'] ?? ''));
}

async function createComponent(call: Call, writing: WritingPage): Promise<unknown> {
  const { component } = readRequest(NewComponentSchema, call.body, ['description', 'group_id']);
  const groupId = readGroupId(writing, component);
  const id = await writeAndPublish(call, async (tx) => {
    const made = applyChange(await makeNew(tx, call, 'component', component.name), component, groupId);
    await saveMade(tx, made);
    await writeAudit(tx, call.author, 'component-new', made.id);
    await declare(tx, call, { writing, id: made.id, name: made.name, status: component.status });
    return made.id;
  });
  return componentAnswer(await call.load(), id);
}

async function updateComponent(call: Call, writing: WritingPage): Promise<unknown> {
  const { component } = readRequest(ComponentChangeSchema, call.body, ['description', 'group_id']);
  const named = call.params['component'] ?? '';
  if (findComponent(writing, named) === null && findGroup(writing, named) !== null)
    throw new Refusal(409, 'It is a group: change it at component-groups/<id>. Its state follows from its components.');
  const id = required(findComponent(writing, named));
  const shown = required(writing.model.components.find(({ definition }) => definition.id === id));
  const groupId = readGroupId(writing, component);
  const isMade = isMadeHere(writing, id);
  if (!isMade)
    refuseChanges(writing, {
      name: [component.name, shown.plainName],
      names: requestedNames(component, shown.definition),
      description: [component.description, shown.description],
      group_id: [groupId, shown.definition.groupId],
    });
  await writeAndPublish(call, async (tx) => {
    if (isMade) {
      const before = await currentMade(tx, call, id);
      const after = applyChange(before, component, groupId);
      if (JSON.stringify(after) !== JSON.stringify(before)) {
        await saveMade(tx, after);
        await writeAudit(tx, call.author, 'component-change', id);
      }
    }
    const { status, name = shown.name } = component;
    return (await declare(tx, call, { writing, id, name, status })) ?? id;
  });
  return componentAnswer(await call.load(), id);
}

/** A component or group without settings. Its id is one that no component of the page ever had. */
async function makeNew(tx: Writer, call: Call, kind: MadeComponent['kind'], name: string) {
  const { page, now } = call.author;
  if ((await readMade(tx, page.key)).length >= MADE_MAX)
    throw new Refusal(409, `A page can have at most ${MADE_MAX} components and groups that were made over the API.`);
  const id = freshId(name, call.newSuffix());
  return {
    ...{ page: page.key, id, kind, name, description: null, groupId: null },
    ...{ showcase: true, onlyIfDegraded: false, startDate: null, createdAt: now },
  };
}

/**
 * Applies a request to a component or group. Translated names are merged; null removes one.
 *
 * @param groupId looked up before; undefined: the request doesn’t mention a group
 */
function applyChange(
  { names, ...made }: MadeComponent,
  request: Pick<
    ComponentRequest,
    'name' | 'names' | 'description' | 'showcase' | 'only_show_if_degraded' | 'start_date'
  >,
  groupId: string | null | undefined,
): MadeComponent {
  const kept = Object.entries({ ...names, ...request.names }).filter((one): one is [string, string] => one[1] !== null);
  return {
    ...made,
    ...(kept.length === 0 ? {} : { names: Object.fromEntries(kept) }),
    name: request.name ?? made.name,
    description: request.description === undefined ? made.description : request.description,
    groupId: groupId === undefined ? made.groupId : groupId,
    showcase: isSet(request.showcase, made.showcase),
    onlyIfDegraded: isSet(request.only_show_if_degraded, made.onlyIfDegraded),
    startDate: request.start_date ?? made.startDate,
  };
}

/** Undefined: the request doesn’t mention a group. @throws Refusal 422 if there is no such group */
function readGroupId(writing: WritingPage, { group_id: wanted }: ComponentRequest): string | null | undefined {
  if (wanted === undefined) return undefined;
  return wanted === null || wanted === '' ? null : requireOnPage('group', writing, wanted, 'component.group_id');
}

/** Declares the state of a component, or withdraws it. Returns the id of the post; null: there is none. */
async function declare(
  tx: Writer,
  call: Call,
  { writing, id, name, status }: { writing: WritingPage; id: string; name: string; status: ComponentRequest['status'] },
): Promise<string | null> {
  if (status === undefined) return null;
  const { author, newSuffix } = call;
  const state = declaredState(status);
  await endOverrides(tx, call, id);
  if (state === 'operational') return null;
  const fresh = `override-${freshId(name, newSuffix(), author.now)}`;
  const document = overridePost(name, `${writing.page.definition.id}/${id}`, state, author.now);
  await createPost(tx, author, { id: fresh, document, action: 'component-override' });
  return fresh;
}

/** Ends all open overrides of a component. */
async function endOverrides(tx: Writer, { author }: Call, component: string): Promise<void> {
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

async function createGroup(call: Call, writing: WritingPage): Promise<unknown> {
  const { component_group: wanted, ...others } = readRequest(NewGroupSchema, call.body, ['description']);
  const { name, names, description } = wanted;
  const members = readMembers(writing, wanted.components ?? []);
  const id = await writeAndPublish(call, async (tx) => {
    const made = await makeNew(tx, call, 'group', name);
    await saveMade(tx, applyChange(made, { names, description: description ?? others.description }, undefined));
    await fillGroup(tx, call, writing, made.id, members);
    await writeAudit(tx, call.author, 'component-group-new', made.id);
    return made.id;
  });
  return groupAnswer(await call.load(), id);
}

async function updateGroup(call: Call, writing: WritingPage): Promise<unknown> {
  const { component_group: wanted, ...others } = readRequest(GroupChangeSchema, call.body, ['description']);
  const { name, names, description = others.description } = wanted;
  const id = requireGroup(call, writing);
  const isMade = isMadeHere(writing, id);
  const shown = writing.model.groups.find((group) => group.id === id);
  if (!isMade)
    refuseChanges(writing, {
      name: [name, shown?.name],
      names: requestedNames(wanted, shown),
      description: [description, null],
    });
  const members = wanted.components === undefined ? null : readMembers(writing, wanted.components);
  await writeAndPublish(call, async (tx) => {
    if (isMade) {
      await saveMade(tx, applyChange(await currentMade(tx, call, id), { name, names, description }, undefined));
      await writeAudit(tx, call.author, 'component-group-change', id);
    }
    if (members !== null) await fillGroup(tx, call, writing, id, members);
    return id;
  });
  return groupAnswer(await call.load(), id);
}

/** Puts exactly these components into a group. @throws Refusal 409 if that moves one that is defined elsewhere */
async function fillGroup(tx: Writer, call: Call, writing: WritingPage, group: string, members: readonly string[]) {
  for (const { definition, name } of writing.model.components) {
    const { id, groupId } = definition;
    const isMember = members.includes(id);
    if ((groupId === group) === isMember) continue;
    if (!isMadeHere(writing, id))
      throw new Refusal(409, `${name} is defined by ${definedBy(writing)}. Change its group there.`);
    await saveMade(tx, { ...(await currentMade(tx, call, id)), groupId: isMember ? group : null });
  }
}

function readMembers(writing: WritingPage, ids: readonly string[]): readonly string[] {
  return ids.map((id, index) => requireOnPage('component', writing, id, `component_group.components.${index}`));
}

/** Deletes a component or group, after `release` has ended what depends on it. @throws Refusal 409 if something else defines it */
async function remove(
  call: Call,
  writing: WritingPage,
  id: string,
  action: string,
  release: (tx: Writer) => Promise<void>,
) {
  if (!isMadeHere(writing, id)) throw new Refusal(409, `It is defined by ${definedBy(writing)}. Remove it there.`);
  await writeAndPublish(call, async (tx) => {
    await release(tx);
    await deleteMade(tx, await currentMade(tx, call, id));
    await writeAudit(tx, call.author, action, id);
    return id;
  });
}

/** Whether only the API defines it. */
function isMadeHere({ made, page }: WritingPage, id: string): boolean {
  const { components = [], groups = [] } = page.config ?? {};
  return made.has(id) && ![...components, ...groups].some((one) => one.id === id);
}

/** Reads it within the transaction. */
async function currentMade(tx: Writer, { author: { page } }: Call, id: string): Promise<MadeComponent> {
  return stillThere((await readMade(tx, page.key)).find((one) => one.id === id));
}

/** @throws Refusal 409 if a request would change what is defined elsewhere. Repeating the current value is fine. */
function refuseChanges(
  writing: WritingPage,
  fields: Readonly<Record<string, readonly [wanted: string | null | undefined, known: string | null | undefined]>>,
): void {
  for (const [name, [wanted, known]] of Object.entries(fields))
    if (wanted !== undefined && (wanted ?? '') !== (known ?? ''))
      throw new Refusal(409, `It is defined by ${definedBy(writing)}. Change its ${name} there.`);
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
  return componentList(writing).flatMap((one) => (one.group ? [GroupAnswerSchema.parse(one)] : []));
}

function groupAnswer(writing: WritingPage, id: string): unknown {
  const known = v2GroupId(writing.model, id);
  return stillThere(groupList(writing).find((group) => group.id === known));
}
