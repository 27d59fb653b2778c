import { XMLValidator } from 'fast-xml-parser';
import { describe, expect, it } from 'vitest';
import { favicon, faviconAddress, LOOKS } from '../../../src/looks/states.ts';
import { STATES } from '../../../src/model/index.ts';

describe.each(STATES)('the favicon of %s', (state) => {
  it('is the shape of the state, small, well-formed, and asks for nothing', () => {
    const svg = favicon(state);
    expect(svg).toContain(LOOKS[state].shape.outline);
    expect(svg).toContain(LOOKS[state].shape.sign);
    expect(XMLValidator.validate(svg)).toBe(true);
    expect(svg.length).toBeLessThan(500);
    expect(svg).not.toMatch(/script|href|style|url\(|<image|\sid=/);
  });

  it('is the same picture inside a page, in an address without a space or a sign that would end it', () => {
    const address = faviconAddress(state);
    expect(address).toMatch(/^data:image\/svg\+xml,[\w%='.:/-]+$/);
    expect(decodeURIComponent(address.slice('data:image/svg+xml,'.length)).replaceAll("'", '"')).toBe(
      favicon(state).trim(),
    );
  });
});
