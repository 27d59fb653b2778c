/**
 * What compiled templates call, in place of Astro's own runtime (`astro.config.mjs`). Ours wait for nothing, so each is one
 * function that adds strings. The bytes are the same, in a third of the time: Astro's makes objects of every element and attribute, and
 * promises of every script. A build with an operator's components, which may wait, has Astro's.
 */

import { addAttribute as addAnyAttribute, spreadAttributes as spreadAny } from 'astro/runtime/server/index.js';
import { escapeMarkup } from '../../model/scalars.ts';
import type { Handed } from '../../views/html.ts';

/** Markup that is written as it is; a string is text. */
class Markup {
  readonly html: string;

  constructor(html: string) {
    this.html = html;
  }
}

/** One drawing of one page. */
export interface Drawing {
  readonly handed: Handed;
  /** Elements with the styles of the page. */
  readonly styles: string;
  /** Contents of scripts, by their ids. */
  readonly inlinedScripts: ReadonlyMap<string, string>;
  /** Ids of those that the page loads from files. */
  readonly fileScripts: ReadonlySet<string>;
  /** Ids of the scripts that it has, in the order of their first element. */
  readonly renderedScripts: Set<string>;
  /** Whether the next script is the first, and in the head. */
  isBlocking: boolean;
  readonly createAstro: typeof createGlobal;
}

type Slots = Readonly<Record<string, ((drawing: Drawing) => unknown) | undefined>>;
type Props = Record<string, unknown>;
type Template = (drawing: Drawing, props: Props, slots: Slots) => Markup;

/** Draws the template of a whole page. */
export function drawTemplate(template: unknown, drawing: Omit<Drawing, 'createAstro' | 'isBlocking'>): string {
  return (template as Template)({ ...drawing, isBlocking: true, createAstro: createGlobal }, {}, {}).html;
}

/** `Astro` in a template. */
function createGlobal(this: Drawing, props: Props, slots: Slots) {
  const { handed } = this;
  return {
    props,
    locals: { handed },
    slots: { has: (name: string) => slots[name] !== undefined },
    self: null as unknown,
  };
}

export const Fragment = Symbol('fragment');

/** A template is what the compiler makes of it: a function. */
export const createComponent = (template: Template): Template => template;

/** Of no use to ours, which all read it from the drawing. */
export const createAstro = (): null => null;

export function render(parts: readonly string[], ...values: readonly unknown[]): Markup {
  let html = parts[0] ?? '';
  for (let index = 0; index < values.length; index += 1) html += toHtml(values[index]) + parts[index + 1];
  return new Markup(html);
}

function toHtml(value: unknown): string {
  if (value instanceof Markup) return value.html;
  if (typeof value === 'string') return escapeMarkup(value);
  if (value === undefined || value === null || value === false) return '';
  if (Array.isArray(value)) {
    let html = '';
    for (const item of value) html += toHtml(item);
    return html;
  }
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new TypeError(`A template can’t show ${typeof value}`);
}

/** Names of attributes whose value is written as text, unless it is empty. */
const PLAIN_ATTRIBUTE =
  /^(?:aria-[a-z]+|data-[a-z-]+|class|href|id|lang|dir|datetime|title|d|value|name|for|role|viewBox)$/;
const plain = new Map<string, boolean>();

/** Those of most elements here, all others with Astro's own. */
export function addAttribute(value: unknown, name: string, isEscaped = true, tag = ''): Markup | string {
  if (value === undefined || value === null) return '';
  const isPlain = plain.getOrInsertComputed(name, (one) => PLAIN_ATTRIBUTE.test(one));
  if (!isPlain || typeof value === 'object') return new Markup(String(addAnyAttribute(value, name, isEscaped, tag)));
  if (value === '') return new Markup(` ${name}`);
  const text = String(value);
  return new Markup(` ${name}="${isEscaped ? escapeAttribute(text) : text}"`);
}

const SPECIAL_IN_ATTRIBUTE = /[&"]/;

function escapeAttribute(text: string): string {
  return SPECIAL_IN_ATTRIBUTE.test(text) ? text.replaceAll('&', '&amp;').replaceAll('"', '&quot;') : text;
}

export const spreadAttributes = (...args: Parameters<typeof spreadAny>): Markup =>
  new Markup(String(spreadAny(...args)));

export const unescapeHTML = (html: unknown): Markup =>
  new Markup(html === undefined || html === null ? '' : String(html));

export function renderComponent(
  drawing: Drawing,
  name: string,
  component: unknown,
  props: Props,
  slots: Slots = {},
): unknown {
  if (typeof component === 'function') return (component as Template)(drawing, props, slots);
  const children = toHtml(slots['default']?.(drawing));
  if (component === Fragment) return new Markup(children);
  if (typeof component !== 'string') throw new TypeError(`There is no template ${name}`);
  return new Markup(`<${component}${spreadAttributes(props, component).html}>${children}</${component}>`);
}

export const renderSlot = (drawing: Drawing, slot: Slots[string], fallback?: Slots[string]): unknown =>
  (slot ?? fallback)?.(drawing);

export const MODULE_SCRIPT = '<script type="module">';
/** Before times are in the visitor's zone nothing is painted, or text would move. Astro can't set attributes of a script. */
export const BLOCKING_SCRIPT = '<script type="module" blocking="render">';

/** At the first place of a page where a template has it. */
export function renderScript(drawing: Drawing, id: string): Markup | string {
  const { inlinedScripts, fileScripts, renderedScripts, isBlocking } = drawing;
  if (renderedScripts.has(id)) return '';
  renderedScripts.add(id);
  const script = inlinedScripts.get(id);
  if (!script || fileScripts.has(id)) return '';
  drawing.isBlocking = false;
  return new Markup(`${isBlocking ? BLOCKING_SCRIPT : MODULE_SCRIPT}${script}</script>`);
}

export function renderHead(drawing: Drawing): Markup {
  drawing.isBlocking = false;
  return new Markup(drawing.styles);
}

/** All our pages have their own head. */
export const maybeRenderHead = (): string => '';
