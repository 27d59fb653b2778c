/** Bodies of requests: JSON, or a form whose names are paths, as in `incident[components][abc]=major_outage`. */

import { Refusal } from './refusal.ts';

const PARTS_MAX = 4;
const FIELDS_MAX = 2_000;

/** @throws Refusal 400 or 415 where it is neither */
export function decodeBody(bytes: Buffer, contentType: string): unknown {
  const [type = ''] = contentType.toLowerCase().split(';');
  const text = bytes.toString('utf8');
  if (type.trim() === 'application/x-www-form-urlencoded') return fromForm(new URLSearchParams(text));
  if (text.trim() === '') return {};
  if (type.trim() !== '' && !/[/+]json$/.test(type.trim()))
    throw new Refusal(415, 'Send JSON (content-type: application/json) or a form (application/x-www-form-urlencoded).');
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Refusal(400, 'The body is not JSON.');
  }
}

type Fields = { [name: string]: string | string[] | Fields };

function fromForm(form: URLSearchParams): Fields {
  const fields: Fields = Object.create(null) as Fields;
  if (form.size > FIELDS_MAX) throw new Refusal(400, `The form has more than ${FIELDS_MAX} fields.`);
  for (const [name, value] of form) put(fields, name, value);
  return fields;
}

function put(fields: Fields, name: string, value: string): void {
  const [head = '', ...rest] = name.split('[').map((part) => part.replace(/\]$/, ''));
  const path = [head, ...rest];
  if (path.length > PARTS_MAX)
    throw new Refusal(400, `The form has a field that is nested too deeply: ${name.slice(0, 60)}`);
  const last = path.at(-1) ?? '';
  const isList = last === '' && path.length > 1;
  const keys = isList ? path.slice(0, -1) : path;
  let place = fields;
  for (const key of keys.slice(0, -1)) {
    const found = place[key];
    if (typeof found === 'string' || Array.isArray(found)) throw twice(name);
    const next: Fields = found ?? (Object.create(null) as Fields);
    place[key] = next;
    place = next;
  }
  const key = keys.at(-1) ?? '';
  const known = place[key];
  if (isList && (known === undefined || Array.isArray(known))) place[key] = [...(known ?? []), value];
  else if (!isList && known === undefined) place[key] = value;
  else throw twice(name);
}

function twice(name: string): Refusal {
  return new Refusal(400, `The form has ${name.slice(0, 60)} twice.`);
}
