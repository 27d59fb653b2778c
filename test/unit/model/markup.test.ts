import { expect, it } from 'vitest';
import { escapeMarkup } from '../../../src/model/scalars.ts';

it('escaping leaves no character that ends a text or an attribute', () => {
  expect(escapeMarkup(`<a b="c" d='e'>&amp;`)).toBe('&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;amp;');
});

it('what needs no escaping stays as it is', () => {
  expect(escapeMarkup('Größe 1/2; €')).toBe('Größe 1/2; €');
});
