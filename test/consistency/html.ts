/** Looking things up in a parsed HTML document. */

import { DomUtils, parseDocument } from 'htmlparser2';

export type Document = ReturnType<typeof parseDocument>;
export type Element = ReturnType<typeof DomUtils.getElementsByTagName>[number];
type Place = Document | Element;

export function parseHtml(text: string): Document {
  return parseDocument(text);
}

/** Elements of a name, and of a class where one is given, in the order of the document. */
export function all(place: Place, name: string, className?: string): Element[] {
  return DomUtils.findAll(
    (one) => (name === '*' || one.name === name) && (className === undefined || classesOf(one).includes(className)),
    place.children,
  );
}

export function one(place: Place, name: string, className?: string): Element {
  const [found] = all(place, name, className);
  if (found === undefined) throw new Error(`there is no <${name} class="${className ?? ''}">`);
  return found;
}

export function byId(place: Place, id: string): Element {
  const [found] = DomUtils.findAll((element) => element.attribs['id'] === id, place.children);
  if (found === undefined) throw new Error(`there is nothing with the id ${id}`);
  return found;
}

export function classesOf(element: Element): readonly string[] {
  return (element.attribs['class'] ?? '').split(/\s+/);
}

/** Elements that stand beside or below what is before them, whatever white space the document has. */
const APART = new Set([
  'p',
  'div',
  'li',
  'ul',
  'ol',
  'dl',
  'dt',
  'dd',
  'h1',
  'h2',
  'h3',
  'h4',
  'tr',
  'td',
  'th',
  'small',
  'section',
]);

/** As it is read: white space is one space, and what stands apart is. */
export function textOf(place: Place | Element): string {
  const parts = (nodes: Place['children']): string[] =>
    nodes.flatMap((node) => {
      if ('data' in node && node.type === 'text') return [node.data];
      if (!('children' in node)) return [];
      const inner = parts(node.children);
      return 'name' in node && (APART.has(node.name) || node.attribs['class'] === 'axis')
        ? [' ', ...inner, ' ']
        : inner;
    });
  return parts(place.children).join('').replaceAll(/\s+/g, ' ').trim();
}

/** The instants of the `<time>` elements inside. */
export function timesIn(place: Place): number[] {
  return all(place, 'time').map(({ attribs }) => Date.parse(attribs['datetime'] ?? ''));
}

/** `s-degraded` as `degraded`. */
export function stateClass(element: Element): string {
  return (
    classesOf(element)
      .find((name) => name.startsWith('s-'))
      ?.slice(2) ?? 'none'
  );
}
